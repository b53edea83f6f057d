// What the scripts beside this have in common. The database is in BENCH_URL, so that no password is an argument.
"use strict";
const { Pool } = require("pg");

exports.url = process.env.BENCH_URL;

// --name value ... ; numbers become numbers.
exports.options = (defaults) => {
  const given = { ...defaults };
  for (let i = 2; i < process.argv.length; i += 2) {
    const name = process.argv[i].replace(/^--/, ""), value = process.argv[i + 1];
    given[name] = typeof defaults[name] === "number" ? Number(value) : value;
  }
  return given;
};

exports.secondsSince = (began) => Number(process.hrtime.bigint() - began) / 1e9;

// Runs step(from, to) over count in pieces, and returns the seconds it took.
exports.inPieces = async (count, piece, step) => {
  const began = process.hrtime.bigint();
  for (let from = 0; from < count; from += piece) await step(from, Math.min(count, from + piece));
  return exports.secondsSince(began);
};

// A connection for what is not measured.
exports.aside = async (work) => {
  const pool = new Pool({ connectionString: exports.url, max: 1 });
  try {
    return await work((text) => pool.query(text));
  } finally {
    await pool.end();
  }
};

exports.print = (result) => console.log(JSON.stringify(result));

exports.main = (work) =>
  work().then(
    () => process.exit(0),
    (error) => {
      console.error(error);
      process.exit(1);
    },
  );

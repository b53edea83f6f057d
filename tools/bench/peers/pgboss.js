// pg-boss with a job that does nothing: loops that fetch a batch and complete it, without its own pause between polls.
//   node pgboss.js --tasks N --batch N --loops N
"use strict";
const PgBoss = require("pg-boss");
const { aside, inPieces, main, options, print, secondsSince, url } = require("./common");

const settings = options({ tasks: 20000, batch: 500, loops: 4 });
const QUEUE = "noop", PUT = 10000;

async function loop(boss) {
  for (;;) {
    const jobs = await boss.fetch(QUEUE, { batchSize: settings.batch });
    if (jobs.length === 0) return;
    await boss.complete(QUEUE, jobs.map((job) => job.id));
  }
}

main(async () => {
  await aside((query) => query("DROP SCHEMA IF EXISTS pgboss CASCADE"));
  const boss = new PgBoss({ connectionString: url, max: settings.loops + 4 });
  boss.on("error", (error) => console.error(error));
  await boss.start();
  await boss.createQueue(QUEUE);
  const put = await inPieces(settings.tasks, PUT, (from, to) =>
    boss.insert(Array.from({ length: to - from }, (_, i) => ({ name: QUEUE, data: { id: from + i } }))));
  await aside((query) => query("VACUUM ANALYZE"));
  const began = process.hrtime.bigint();
  await Promise.all(Array.from({ length: settings.loops }, () => loop(boss)));
  const ran = secondsSince(began);
  const { rows } = await aside((query) => query("SELECT count(*)::int AS count FROM pgboss.job WHERE state < 'completed'"));
  if (rows[0].count !== 0) throw new Error(`${rows[0].count} jobs are left`);
  print({ tasks: settings.tasks, enqueue_per_second: settings.tasks / put, run_per_second: settings.tasks / ran });
});

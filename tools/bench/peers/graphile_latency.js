// How long until graphile-worker, which listens for notifications, starts a job put in on another connection of this process.
//   node graphile_latency.js --samples N
"use strict";
const { Pool } = require("pg");
const { Logger, makeWorkerUtils, run } = require("graphile-worker");
const { aside, main, options, print, url } = require("./common");

const settings = options({ samples: 200 });
const WARM_UP = 20, PAUSE_MS = 5;

async function sample(client, heard) {
  const began = process.hrtime.bigint();
  const started = new Promise((resolve) => (heard.resolve = resolve));
  await client.query("SELECT graphile_worker.add_job('ping', '{}'::json)");
  const ms = Number((await started) - began) / 1e6;
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  return ms;
}

main(async () => {
  const logger = new Logger(() => () => {}), heard = {}, pool = new Pool({ connectionString: url, max: 1 });
  await aside((query) => query("DROP SCHEMA IF EXISTS graphile_worker CASCADE"));
  const utils = await makeWorkerUtils({ connectionString: url, logger });
  await utils.migrate();
  const runner = await run({ connectionString: url, concurrency: 4, logger, noHandleSignals: true,
    taskList: { ping: async () => heard.resolve(process.hrtime.bigint()) } });
  const client = await pool.connect(), all = [];
  for (let i = 0; i < settings.samples + WARM_UP; i++) all.push(await sample(client, heard));
  const sorted = all.slice(WARM_UP).sort((a, b) => a - b);
  const at = (part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
  print({ samples: sorted.length, p50_ms: at(0.5), p95_ms: at(0.95), p99_ms: at(0.99), max_ms: at(1) });
  client.release();
  await runner.stop();
});

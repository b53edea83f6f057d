// graphile-worker with a task that does nothing.
//   node graphile.js --mode batch|plain --tasks N --processes N
// batch: tasks are fetched 500 at a time into its local queue and completed in batches, as its own performance page advises;
// plain: its defaults, 24 jobs at once a process. Finished jobs are deleted: it keeps none. The clock runs from the word to
// start, with the modules loaded, until every process has found nothing more.
"use strict";
const { fork } = require("child_process");
const { Logger, makeWorkerUtils, runOnce } = require("graphile-worker");
const { aside, inPieces, main, options, print, secondsSince, url } = require("./common");

const settings = options({ mode: "batch", tasks: 20000, processes: 2, role: "parent" });
const JOBS_AT_ONCE = 24, LOCAL_QUEUE = 500, PUT = 10000;

function preset() {
  const worker = { connectionString: url, concurrentJobs: JOBS_AT_ONCE, maxPoolSize: JOBS_AT_ONCE + 1 };
  if (settings.mode === "batch") {
    worker.localQueue = { size: LOCAL_QUEUE, refetchDelay: { durationMs: 10 } };
    worker.completeJobBatchDelay = 0;
    worker.failJobBatchDelay = 0;
  }
  return { worker };
}

const silent = () => new Logger(() => () => {});

// Its SQL function with one JSON document: more than twice as fast as addJobs of its JavaScript.
const ADD_JOBS = `SELECT count(*) FROM graphile_worker.add_jobs(ARRAY(
  SELECT json_populate_recordset(NULL::graphile_worker.job_spec, CAST($1 AS json))))`;

async function enqueue() {
  const utils = await makeWorkerUtils({ connectionString: url, logger: silent() });
  await utils.migrate();
  const seconds = await utils.withPgClient((client) => inPieces(settings.tasks, PUT, (from, to) => {
    const jobs = Array.from({ length: to - from }, (_, i) => ({ identifier: "noop", payload: { id: from + i } }));
    return client.query(ADD_JOBS, [JSON.stringify(jobs)]);
  }));
  await utils.release();
  return seconds;
}

function startChild() {
  const child = fork(__filename, ["--mode", settings.mode, "--role", "child"]);
  const ready = new Promise((resolve) => child.once("message", resolve));
  const ended = new Promise((resolve, reject) =>
    child.once("exit", (code) => (code === 0 ? resolve() : reject(new Error(`a process ended with ${code}`)))));
  return { child, ready, ended };
}

async function run() {
  const children = Array.from({ length: settings.processes }, startChild);
  await Promise.all(children.map((one) => one.ready));
  const began = process.hrtime.bigint();
  for (const one of children) one.child.send("start");
  await Promise.all(children.map((one) => one.ended));
  return secondsSince(began);
}

async function asChild() {
  const word = new Promise((resolve) => process.once("message", resolve));
  process.send("ready");
  await word;
  await runOnce({ preset: preset(), logger: silent(), taskList: { noop: async () => {} } });
}

async function asParent() {
  await aside((query) => query("DROP SCHEMA IF EXISTS graphile_worker CASCADE"));
  const put = await enqueue();
  await aside((query) => query("VACUUM ANALYZE"));
  const ran = await run();
  const { rows } = await aside((query) => query("SELECT count(*)::int AS count FROM graphile_worker._private_jobs"));
  if (rows[0].count !== 0) throw new Error(`${rows[0].count} jobs are left`);
  print({ tasks: settings.tasks, enqueue_per_second: settings.tasks / put, run_per_second: settings.tasks / ran });
}

main(settings.role === "child" ? asChild : asParent);

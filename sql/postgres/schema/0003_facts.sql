-- taskpool schema, version 3, for PostgreSQL 12 and later.
-- psql -v ON_ERROR_STOP=1 -1 -f 0003_facts.sql   or: taskpool schema install. After version 2.
-- Safe to run again; drops nothing. For another prefix replace tp_ throughout.

-- What workers did, by minute: one row a minute, worker and handler, for people and figures; nothing is decided by it. minute: when it began.
-- wait: from when a task was due to the start of its handler. run: the handler's time. Both in ms, as sum, maximum and histogram: _0 to _9
-- count those of at most 5, 20, 100, 500 ms, 2, 10, 60 s, 10 min, 1 h, and of more.
CREATE TABLE IF NOT EXISTS tp_activity (
  minute bigint NOT NULL,
  worker uuid NOT NULL,
  handler varchar(64) NOT NULL,
  done bigint NOT NULL,
  failed bigint NOT NULL,
  gave_up bigint NOT NULL,
  skipped bigint NOT NULL,
  released bigint NOT NULL,
  lost bigint NOT NULL,
  wait_sum bigint NOT NULL,
  wait_max bigint NOT NULL,
  wait_0 bigint NOT NULL,
  wait_1 bigint NOT NULL,
  wait_2 bigint NOT NULL,
  wait_3 bigint NOT NULL,
  wait_4 bigint NOT NULL,
  wait_5 bigint NOT NULL,
  wait_6 bigint NOT NULL,
  wait_7 bigint NOT NULL,
  wait_8 bigint NOT NULL,
  wait_9 bigint NOT NULL,
  run_sum bigint NOT NULL,
  run_max bigint NOT NULL,
  run_0 bigint NOT NULL,
  run_1 bigint NOT NULL,
  run_2 bigint NOT NULL,
  run_3 bigint NOT NULL,
  run_4 bigint NOT NULL,
  run_5 bigint NOT NULL,
  run_6 bigint NOT NULL,
  run_7 bigint NOT NULL,
  run_8 bigint NOT NULL,
  run_9 bigint NOT NULL,
  CONSTRAINT tp_activity_pk PRIMARY KEY (minute, worker, handler)
);

-- A change of a table waits for the transactions that use it, and all that come after wait behind it: rather than hold up workers for long
-- it fails, and is run again. The columns have no default, so no row is written.
SET LOCAL lock_timeout = '5s';

-- token_tag: the last 12 digits of all claim tokens of the worker's process, so that a token leads to its worker. drain_at: when somebody
-- asked the worker to end, and drain_who that was.
ALTER TABLE tp_worker ADD COLUMN IF NOT EXISTS token_tag varchar(12);
ALTER TABLE tp_worker ADD COLUMN IF NOT EXISTS drain_at bigint;
ALTER TABLE tp_worker ADD COLUMN IF NOT EXISTS drain_who varchar(128);
CREATE INDEX IF NOT EXISTS tp_worker_tag ON tp_worker (token_tag);
CREATE INDEX IF NOT EXISTS tp_worker_state ON tp_worker (state, seen_at);

-- Since when a task had been due when it was last claimed: while it is handled, due_at says when the lease lapses. Libraries that know
-- version 2 only go on working, and leave it absent.
ALTER TABLE tp_pending ADD COLUMN IF NOT EXISTS wanted_at bigint;

-- Who does what now. Tasks of plan hold are not marked while they are handled, and are not here.
CREATE OR REPLACE VIEW tp_running AS
SELECT task.id, task.handler, task.biz_key, task.failures, task.owner,
       CASE WHEN task.wanted_at BETWEEN -62135596800000 AND 253402300799999 THEN to_timestamp(task.wanted_at / 1000.0) AT TIME ZONE 'UTC' END AS due,
       CASE WHEN CAST(CAST('x0000' || LEFT(REPLACE(CAST(task.owner AS varchar), '-', ''), 12) AS bit(64)) AS bigint) BETWEEN -62135596800000 AND 253402300799999 THEN to_timestamp(CAST(CAST('x0000' || LEFT(REPLACE(CAST(task.owner AS varchar), '-', ''), 12) AS bit(64)) AS bigint) / 1000.0) AT TIME ZONE 'UTC' END AS claimed,
       CASE WHEN task.due_at BETWEEN -62135596800000 AND 253402300799999 THEN to_timestamp(task.due_at / 1000.0) AT TIME ZONE 'UTC' END AS lapses,
       worker.name AS worker, worker.host, worker.pid
FROM tp_pending task LEFT JOIN
     (SELECT token_tag, MIN(name) AS name, MIN(host) AS host, MIN(pid) AS pid FROM tp_worker WHERE token_tag IS NOT NULL GROUP BY token_tag) worker
     ON worker.token_tag = RIGHT(CAST(task.owner AS varchar), 12)
WHERE task.owner IS NOT NULL AND task.state = 'handling';

-- The failed pool by handler and reason. example: the id of one of them.
CREATE OR REPLACE VIEW tp_failures AS
SELECT handler, reason, COUNT(*) AS tasks,
       CASE WHEN MIN(settled_at) BETWEEN -62135596800000 AND 253402300799999 THEN to_timestamp(MIN(settled_at) / 1000.0) AT TIME ZONE 'UTC' END AS first_failed,
       CASE WHEN MAX(settled_at) BETWEEN -62135596800000 AND 253402300799999 THEN to_timestamp(MAX(settled_at) / 1000.0) AT TIME ZONE 'UTC' END AS last_failed,
       CAST(MIN(CAST(id AS varchar)) AS uuid) AS example
FROM tp_failed GROUP BY handler, reason;

-- What all workers did, by minute and handler. Times in ms, absent where no handler ran.
CREATE OR REPLACE VIEW tp_throughput AS
SELECT CASE WHEN minute BETWEEN -62135596800000 AND 253402300799999 THEN to_timestamp(minute / 1000.0) AT TIME ZONE 'UTC' END AS minute, handler,
       SUM(done) AS done, SUM(failed) AS failed, SUM(gave_up) AS gave_up, SUM(skipped) AS skipped, SUM(released) AS released, SUM(lost) AS lost,
       SUM(wait_sum) / NULLIF(SUM(wait_0 + wait_1 + wait_2 + wait_3 + wait_4 + wait_5 + wait_6 + wait_7 + wait_8 + wait_9), 0) AS wait_average,
       MAX(wait_max) AS wait_longest,
       SUM(run_sum) / NULLIF(SUM(run_0 + run_1 + run_2 + run_3 + run_4 + run_5 + run_6 + run_7 + run_8 + run_9), 0) AS run_average,
       MAX(run_max) AS run_longest
FROM tp_activity GROUP BY minute, handler;

-- The version of these tables. What was added hinders no library of version 2, so that the version that all must know stays 2.
INSERT INTO tp_meta (name, value) VALUES ('schema_latest', '3') ON CONFLICT DO NOTHING;

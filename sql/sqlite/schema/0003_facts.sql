-- taskpool schema, version 3, for SQLite 3.38 and later.
-- sqlite3 -bail -cmd '.timeout 10000' FILE < 0003_facts.sql   or: taskpool schema install. After version 2.
-- Drops nothing; where columns are there already it stops: taskpool schema install goes on, also with one that broke off. For another prefix replace tp_ throughout.

-- What workers did, by minute: one row a minute, worker and handler, for people and figures; nothing is decided by it. minute: when it began.
-- wait: from when a task was due to the start of its handler. run: the handler's time. Both in ms, as sum, maximum and histogram: _0 to _9
-- count those of at most 5, 20, 100, 500 ms, 2, 10, 60 s, 10 min, 1 h, and of more.
CREATE TABLE IF NOT EXISTS tp_activity (
  minute BIGINT NOT NULL,
  worker CHAR(36) NOT NULL,
  handler VARCHAR(64) NOT NULL,
  done BIGINT NOT NULL,
  failed BIGINT NOT NULL,
  gave_up BIGINT NOT NULL,
  skipped BIGINT NOT NULL,
  released BIGINT NOT NULL,
  lost BIGINT NOT NULL,
  wait_sum BIGINT NOT NULL,
  wait_max BIGINT NOT NULL,
  wait_0 BIGINT NOT NULL,
  wait_1 BIGINT NOT NULL,
  wait_2 BIGINT NOT NULL,
  wait_3 BIGINT NOT NULL,
  wait_4 BIGINT NOT NULL,
  wait_5 BIGINT NOT NULL,
  wait_6 BIGINT NOT NULL,
  wait_7 BIGINT NOT NULL,
  wait_8 BIGINT NOT NULL,
  wait_9 BIGINT NOT NULL,
  run_sum BIGINT NOT NULL,
  run_max BIGINT NOT NULL,
  run_0 BIGINT NOT NULL,
  run_1 BIGINT NOT NULL,
  run_2 BIGINT NOT NULL,
  run_3 BIGINT NOT NULL,
  run_4 BIGINT NOT NULL,
  run_5 BIGINT NOT NULL,
  run_6 BIGINT NOT NULL,
  run_7 BIGINT NOT NULL,
  run_8 BIGINT NOT NULL,
  run_9 BIGINT NOT NULL,
  CONSTRAINT tp_activity_pk PRIMARY KEY (minute, worker, handler)
);

-- token_tag: the last 12 digits of all claim tokens of the worker's process, so that a token leads to its worker. drain_at: when somebody
-- asked the worker to end, and drain_who that was.
ALTER TABLE tp_worker ADD COLUMN token_tag VARCHAR(12);
ALTER TABLE tp_worker ADD COLUMN drain_at BIGINT;
ALTER TABLE tp_worker ADD COLUMN drain_who VARCHAR(128);
CREATE INDEX IF NOT EXISTS tp_worker_tag ON tp_worker (token_tag);
CREATE INDEX IF NOT EXISTS tp_worker_state ON tp_worker (state, seen_at);

-- Since when a task had been due when it was last claimed: while it is handled, due_at says when the lease lapses. Libraries that know
-- version 2 only go on working, and leave it absent.
ALTER TABLE tp_pending ADD COLUMN wanted_at BIGINT;

-- Who does what now. Tasks of plan hold are not marked while they are handled, and are not here.
CREATE VIEW IF NOT EXISTS tp_running AS
SELECT task.id, task.handler, task.biz_key, task.failures, task.owner,
       strftime('%Y-%m-%d %H:%M:%f', task.wanted_at / 1000.0, 'unixepoch') AS due,
       strftime('%Y-%m-%d %H:%M:%f', task.due_at / 1000.0, 'unixepoch') AS lapses,
       worker.name AS worker, worker.host, worker.pid
FROM tp_pending task LEFT JOIN
     (SELECT token_tag, MIN(name) AS name, MIN(host) AS host, MIN(pid) AS pid FROM tp_worker WHERE token_tag IS NOT NULL GROUP BY token_tag) worker
     ON worker.token_tag = SUBSTR(task.owner, 25)
WHERE task.owner IS NOT NULL AND task.state = 'handling';

-- The failed pool by handler and reason. example: the id of one of them.
CREATE VIEW IF NOT EXISTS tp_failures AS
SELECT handler, reason, COUNT(*) AS tasks,
       strftime('%Y-%m-%d %H:%M:%f', MIN(settled_at) / 1000.0, 'unixepoch') AS first_failed,
       strftime('%Y-%m-%d %H:%M:%f', MAX(settled_at) / 1000.0, 'unixepoch') AS last_failed,
       MIN(id) AS example
FROM tp_failed GROUP BY handler, reason;

-- What all workers did, by minute and handler. Times in ms, absent where no handler ran.
CREATE VIEW IF NOT EXISTS tp_throughput AS
SELECT strftime('%Y-%m-%d %H:%M:%f', minute / 1000.0, 'unixepoch') AS minute, handler,
       SUM(done) AS done, SUM(failed) AS failed, SUM(gave_up) AS gave_up, SUM(skipped) AS skipped, SUM(released) AS released, SUM(lost) AS lost,
       SUM(wait_sum) / NULLIF(SUM(wait_0 + wait_1 + wait_2 + wait_3 + wait_4 + wait_5 + wait_6 + wait_7 + wait_8 + wait_9), 0) AS wait_average,
       MAX(wait_max) AS wait_longest,
       SUM(run_sum) / NULLIF(SUM(run_0 + run_1 + run_2 + run_3 + run_4 + run_5 + run_6 + run_7 + run_8 + run_9), 0) AS run_average,
       MAX(run_max) AS run_longest
FROM tp_activity GROUP BY minute, handler;

-- The version of these tables. What was added hinders no library of version 2, so that the version that all must know stays 2.
INSERT INTO tp_meta (name, value) VALUES ('schema_latest', '3') ON CONFLICT DO NOTHING;

-- taskpool schema, version 3, for MySQL 8.0.13 and MariaDB 10.6 and later.
-- mariadb DATABASE < 0003_facts.sql   or: taskpool schema install. After version 2.
-- Safe to run again; drops nothing. For another prefix replace tp_ throughout.

-- What workers did, by minute: one row a minute, worker and handler, for people and figures; nothing is decided by it. minute: when it began.
-- wait: from when a task was due to the start of its handler. run: the handler's time. Both in ms, as sum, maximum and histogram: _0 to _9
-- count those of at most 5, 20, 100, 500 ms, 2, 10, 60 s, 10 min, 1 h, and of more.
CREATE TABLE IF NOT EXISTS tp_activity (
  minute BIGINT NOT NULL,
  worker CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
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
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- A change of a table waits for the transactions that use it, and all that come after wait behind it: rather than hold up workers for long
-- it fails, and is run again.
SET @tp_wait = CAST(COALESCE(@tp_wait, @@SESSION.lock_wait_timeout) AS UNSIGNED);
SET SESSION lock_wait_timeout = 5;

-- token_tag: the last 12 digits of all claim tokens of the worker's process, so that a token leads to its worker. drain_at: when somebody
-- asked the worker to end, and drain_who that was.
/*!80000 SET @tp_column = (SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE tp_worker ADD COLUMN token_tag VARCHAR(12)')
  FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'tp_worker' AND column_name = 'token_tag') */;
/*!80000 PREPARE tp_column FROM @tp_column */;
/*!80000 EXECUTE tp_column */;
/*M! ALTER TABLE tp_worker ADD COLUMN */ /*M!100600 IF NOT EXISTS */ /*M! token_tag VARCHAR(12) */;
/*!80000 SET @tp_column = (SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE tp_worker ADD COLUMN drain_at BIGINT')
  FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'tp_worker' AND column_name = 'drain_at') */;
/*!80000 PREPARE tp_column FROM @tp_column */;
/*!80000 EXECUTE tp_column */;
/*M! ALTER TABLE tp_worker ADD COLUMN */ /*M!100600 IF NOT EXISTS */ /*M! drain_at BIGINT */;
/*!80000 SET @tp_column = (SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE tp_worker ADD COLUMN drain_who VARCHAR(128)')
  FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'tp_worker' AND column_name = 'drain_who') */;
/*!80000 PREPARE tp_column FROM @tp_column */;
/*!80000 EXECUTE tp_column */;
/*M! ALTER TABLE tp_worker ADD COLUMN */ /*M!100600 IF NOT EXISTS */ /*M! drain_who VARCHAR(128) */;
/*!80000 SET @tp_index = (SELECT IF(COUNT(*) > 0, 'DO 0', 'CREATE INDEX tp_worker_tag ON tp_worker (token_tag)')
  FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = 'tp_worker' AND index_name = 'tp_worker_tag') */;
/*!80000 PREPARE tp_index FROM @tp_index */;
/*!80000 EXECUTE tp_index */;
/*M! CREATE INDEX */ /*M!100600 IF NOT EXISTS */ /*M! tp_worker_tag ON tp_worker (token_tag) */;
/*!80000 SET @tp_index = (SELECT IF(COUNT(*) > 0, 'DO 0', 'CREATE INDEX tp_worker_state ON tp_worker (state, seen_at)')
  FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = 'tp_worker' AND index_name = 'tp_worker_state') */;
/*!80000 PREPARE tp_index FROM @tp_index */;
/*!80000 EXECUTE tp_index */;
/*M! CREATE INDEX */ /*M!100600 IF NOT EXISTS */ /*M! tp_worker_state ON tp_worker (state, seen_at) */;

-- Since when a task had been due when it was last claimed: while it is handled, due_at says when the lease lapses. Libraries that know
-- version 2 only go on working, and leave it absent.
/*!80000 SET @tp_column = (SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE tp_pending ADD COLUMN wanted_at BIGINT')
  FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'tp_pending' AND column_name = 'wanted_at') */;
/*!80000 PREPARE tp_column FROM @tp_column */;
/*!80000 EXECUTE tp_column */;
/*M! ALTER TABLE tp_pending ADD COLUMN */ /*M!100600 IF NOT EXISTS */ /*M! wanted_at BIGINT */;

SET SESSION lock_wait_timeout = @tp_wait;
SET @tp_wait = NULL;

-- Who does what now. Tasks of plan hold are not marked while they are handled, and are not here.
CREATE OR REPLACE VIEW tp_running AS
SELECT task.id, task.handler, task.biz_key, task.failures, task.owner,
       CASE WHEN task.wanted_at BETWEEN -62135596800000 AND 253402300799999 THEN TIMESTAMP'1970-01-01 00:00:00' + INTERVAL task.wanted_at * 1000 MICROSECOND END AS due,
       CASE WHEN CAST(CONV(CONCAT(LEFT(task.owner, 8), SUBSTR(task.owner, 10, 4)), 16, 10) AS SIGNED) BETWEEN -62135596800000 AND 253402300799999 THEN TIMESTAMP'1970-01-01 00:00:00' + INTERVAL CAST(CONV(CONCAT(LEFT(task.owner, 8), SUBSTR(task.owner, 10, 4)), 16, 10) AS SIGNED) * 1000 MICROSECOND END AS claimed,
       CASE WHEN task.due_at BETWEEN -62135596800000 AND 253402300799999 THEN TIMESTAMP'1970-01-01 00:00:00' + INTERVAL task.due_at * 1000 MICROSECOND END AS lapses,
       worker.name AS worker, worker.host, worker.pid
FROM tp_pending task LEFT JOIN
     (SELECT token_tag, MIN(name) AS name, MIN(host) AS host, MIN(pid) AS pid FROM tp_worker WHERE token_tag IS NOT NULL GROUP BY token_tag) worker
     ON worker.token_tag = RIGHT(task.owner, 12)
WHERE task.owner IS NOT NULL AND task.state = 'handling';

-- The failed pool by handler and reason. example: the id of one of them.
CREATE OR REPLACE VIEW tp_failures AS
SELECT handler, reason, COUNT(*) AS tasks,
       CASE WHEN MIN(settled_at) BETWEEN -62135596800000 AND 253402300799999 THEN TIMESTAMP'1970-01-01 00:00:00' + INTERVAL MIN(settled_at) * 1000 MICROSECOND END AS first_failed,
       CASE WHEN MAX(settled_at) BETWEEN -62135596800000 AND 253402300799999 THEN TIMESTAMP'1970-01-01 00:00:00' + INTERVAL MAX(settled_at) * 1000 MICROSECOND END AS last_failed,
       MIN(id) AS example
FROM tp_failed GROUP BY handler, reason;

-- What all workers did, by minute and handler. Times in ms, absent where no handler ran.
CREATE OR REPLACE VIEW tp_throughput AS
SELECT CASE WHEN minute BETWEEN -62135596800000 AND 253402300799999 THEN TIMESTAMP'1970-01-01 00:00:00' + INTERVAL minute * 1000 MICROSECOND END AS minute, handler,
       SUM(done) AS done, SUM(failed) AS failed, SUM(gave_up) AS gave_up, SUM(skipped) AS skipped, SUM(released) AS released, SUM(lost) AS lost,
       SUM(wait_sum) / NULLIF(SUM(wait_0 + wait_1 + wait_2 + wait_3 + wait_4 + wait_5 + wait_6 + wait_7 + wait_8 + wait_9), 0) AS wait_average,
       MAX(wait_max) AS wait_longest,
       SUM(run_sum) / NULLIF(SUM(run_0 + run_1 + run_2 + run_3 + run_4 + run_5 + run_6 + run_7 + run_8 + run_9), 0) AS run_average,
       MAX(run_max) AS run_longest
FROM tp_activity GROUP BY minute, handler;

-- The version of these tables. What was added hinders no library of version 2, so that the version that all must know stays 2.
INSERT INTO tp_meta (name, value) VALUES ('schema_latest', '3') ON DUPLICATE KEY UPDATE value = value;

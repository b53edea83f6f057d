-- taskpool schema, version 2, for MySQL 8.0.13 and MariaDB 10.6 and later.
-- mariadb DATABASE < 0002_services.sql   or: taskpool schema install. After version 1.
-- Safe to run again; drops nothing. For another prefix replace tp_ throughout.

-- What happened to tasks besides being claimed and done: failures, lapsed leases, what operators did. alert_at: when
-- somebody is still to be told that the task gave up.
CREATE TABLE IF NOT EXISTS tp_history (
  id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  task_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin,
  handler VARCHAR(64),
  event VARCHAR(8) NOT NULL,
  attempt INT,
  owner CHAR(36) CHARACTER SET ascii COLLATE ascii_bin,
  who VARCHAR(128),
  reason VARCHAR(512),
  created_at BIGINT NOT NULL,
  alert_at BIGINT,
  CONSTRAINT tp_history_pk PRIMARY KEY (id),
  KEY tp_history_task (task_id, created_at),
  KEY tp_history_alert (alert_at),
  KEY tp_history_age (created_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The idempotency ledger: what was done already. owner: the try that did it.
CREATE TABLE IF NOT EXISTS tp_once (
  once_key VARCHAR(128) NOT NULL,
  handler VARCHAR(64),
  task_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin,
  owner CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  created_at BIGINT NOT NULL,
  CONSTRAINT tp_once_pk PRIMARY KEY (once_key),
  KEY tp_once_age (created_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Rules by which tasks are made. next_at: the next planned time, absent when there is none.
CREATE TABLE IF NOT EXISTS tp_schedule (
  name VARCHAR(64) NOT NULL,
  rule VARCHAR(200) NOT NULL,
  time_zone VARCHAR(64),
  handler VARCHAR(64) NOT NULL,
  params LONGTEXT,
  biz_key VARCHAR(128),
  shard INT NOT NULL,
  priority SMALLINT NOT NULL,
  max_failures INT,
  missed VARCHAR(8) NOT NULL,
  missed_max INT NOT NULL,
  alone SMALLINT NOT NULL,
  paused SMALLINT NOT NULL,
  next_at BIGINT,
  last_at BIGINT,
  last_task CHAR(36) CHARACTER SET ascii COLLATE ascii_bin,
  created_at BIGINT NOT NULL,
  modified_at BIGINT NOT NULL,
  CONSTRAINT tp_schedule_pk PRIMARY KEY (name),
  KEY tp_schedule_next (next_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Workers, for people to look at; nothing is decided by it but whether to take to leases after a death.
CREATE TABLE IF NOT EXISTS tp_worker (
  id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  name VARCHAR(128) NOT NULL,
  host VARCHAR(128) NOT NULL,
  pid INT NOT NULL,
  handlers VARCHAR(512) NOT NULL,
  plan VARCHAR(8) NOT NULL,
  threads INT NOT NULL,
  state VARCHAR(8) NOT NULL,
  running INT NOT NULL,
  claimed BIGINT NOT NULL,
  done BIGINT NOT NULL,
  failed BIGINT NOT NULL,
  started_at BIGINT NOT NULL,
  seen_at BIGINT NOT NULL,
  CONSTRAINT tp_worker_pk PRIMARY KEY (id),
  KEY tp_worker_seen (seen_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Handlers whose tasks are not to be claimed.
CREATE TABLE IF NOT EXISTS tp_pause (
  handler VARCHAR(64) NOT NULL,
  who VARCHAR(128),
  reason VARCHAR(512),
  created_at BIGINT NOT NULL,
  CONSTRAINT tp_pause_pk PRIMARY KEY (handler)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- By age, so that deleting the oldest reads no others. In a pool with much history this takes its time. MySQL has no IF NOT EXISTS
-- here, and looks first; what is for MariaDB alone is read by taskpool, too, but for what has a version.
/*!80000 SET @tp_index = (SELECT IF(COUNT(*) > 0, 'DO 0', 'CREATE INDEX tp_finished_age ON tp_finished (settled_at)')
  FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = 'tp_finished' AND index_name = 'tp_finished_age') */;
/*!80000 PREPARE tp_index FROM @tp_index */;
/*!80000 EXECUTE tp_index */;
/*M! CREATE INDEX */ /*M!100600 IF NOT EXISTS */ /*M! tp_finished_age ON tp_finished (settled_at) */;
/*!80000 SET @tp_index = (SELECT IF(COUNT(*) > 0, 'DO 0', 'CREATE INDEX tp_failed_age ON tp_failed (settled_at)')
  FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = 'tp_failed' AND index_name = 'tp_failed_age') */;
/*!80000 PREPARE tp_index FROM @tp_index */;
/*!80000 EXECUTE tp_index */;
/*M! CREATE INDEX */ /*M!100600 IF NOT EXISTS */ /*M! tp_failed_age ON tp_failed (settled_at) */;

-- What a claim reads that asks for some shards only.
/*!80000 SET @tp_index = (SELECT IF(COUNT(*) > 0, 'DO 0', 'CREATE INDEX tp_pending_shd ON tp_pending (handler, shard, priority, due_at, id)')
  FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = 'tp_pending' AND index_name = 'tp_pending_shd') */;
/*!80000 PREPARE tp_index FROM @tp_index */;
/*!80000 EXECUTE tp_index */;
/*M! CREATE INDEX */ /*M!100600 IF NOT EXISTS */ /*M! tp_pending_shd ON tp_pending (handler, shard, priority, due_at, id) */;

-- The view of version 1, but a time beyond the years 1 to 9999 is absent instead of an error for all.
CREATE OR REPLACE VIEW tp_tasks AS
SELECT id, 'pending' AS pool, CASE WHEN state = 'failed' THEN CONCAT('failed-', failures) ELSE state END AS state,
       handler, biz_key, dedup_key, params, shard, priority, failures, max_failures, reason, owner,
       CASE WHEN due_at BETWEEN -62135596800000 AND 253402300799999 THEN TIMESTAMP'1970-01-01 00:00:00' + INTERVAL due_at * 1000 MICROSECOND END AS due,
       CASE WHEN created_at BETWEEN -62135596800000 AND 253402300799999 THEN TIMESTAMP'1970-01-01 00:00:00' + INTERVAL created_at * 1000 MICROSECOND END AS created,
       CASE WHEN modified_at BETWEEN -62135596800000 AND 253402300799999 THEN TIMESTAMP'1970-01-01 00:00:00' + INTERVAL modified_at * 1000 MICROSECOND END AS modified,
       NULL AS settled
FROM tp_pending
UNION ALL
SELECT id, 'finished' AS pool, CASE WHEN state = 'failed' THEN CONCAT('failed-', failures) ELSE state END AS state,
       handler, biz_key, dedup_key, params, shard, priority, failures, max_failures, reason, owner,
       CASE WHEN due_at BETWEEN -62135596800000 AND 253402300799999 THEN TIMESTAMP'1970-01-01 00:00:00' + INTERVAL due_at * 1000 MICROSECOND END AS due,
       CASE WHEN created_at BETWEEN -62135596800000 AND 253402300799999 THEN TIMESTAMP'1970-01-01 00:00:00' + INTERVAL created_at * 1000 MICROSECOND END AS created,
       CASE WHEN modified_at BETWEEN -62135596800000 AND 253402300799999 THEN TIMESTAMP'1970-01-01 00:00:00' + INTERVAL modified_at * 1000 MICROSECOND END AS modified,
       CASE WHEN settled_at BETWEEN -62135596800000 AND 253402300799999 THEN TIMESTAMP'1970-01-01 00:00:00' + INTERVAL settled_at * 1000 MICROSECOND END AS settled
FROM tp_finished
UNION ALL
SELECT id, 'failed' AS pool, CASE WHEN state = 'failed' THEN CONCAT('failed-', failures) ELSE state END AS state,
       handler, biz_key, dedup_key, params, shard, priority, failures, max_failures, reason, owner,
       CASE WHEN due_at BETWEEN -62135596800000 AND 253402300799999 THEN TIMESTAMP'1970-01-01 00:00:00' + INTERVAL due_at * 1000 MICROSECOND END AS due,
       CASE WHEN created_at BETWEEN -62135596800000 AND 253402300799999 THEN TIMESTAMP'1970-01-01 00:00:00' + INTERVAL created_at * 1000 MICROSECOND END AS created,
       CASE WHEN modified_at BETWEEN -62135596800000 AND 253402300799999 THEN TIMESTAMP'1970-01-01 00:00:00' + INTERVAL modified_at * 1000 MICROSECOND END AS modified,
       CASE WHEN settled_at BETWEEN -62135596800000 AND 253402300799999 THEN TIMESTAMP'1970-01-01 00:00:00' + INTERVAL settled_at * 1000 MICROSECOND END AS settled
FROM tp_failed;

UPDATE tp_meta SET value = '2' WHERE name = 'schema' AND value = '1';

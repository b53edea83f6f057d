-- taskpool schema, version 1, for MySQL 8.0.13 and MariaDB 10.6 and later, with pending partitioned by handler and finished by month.
-- Instead of schema/0001_pools.sql; version 2 comes as usual: 0002_services.sql, or taskpool schema install.
-- mariadb DATABASE < 0001_pools.sql
-- Safe to run again; drops nothing. For another prefix replace tp_ throughout. What it costs: docs/partitions.md.
-- MySQL has no DEFAULT partition: there handlers are shared out to 16 partitions.

-- What is installed here.
CREATE TABLE IF NOT EXISTS tp_meta (
  name VARCHAR(30) NOT NULL,
  value VARCHAR(200) NOT NULL,
  CONSTRAINT tp_meta_pk PRIMARY KEY (name)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The hot pool: what is to be done or being done. due_at says when a row may next be looked at: its time, its next
-- retry or, while handling, when the lease lapses.
CREATE TABLE IF NOT EXISTS tp_pending (
  id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT (UUID()),
  handler VARCHAR(64) NOT NULL,
  biz_key VARCHAR(128),
  dedup_key VARCHAR(128),
  params LONGTEXT,
  shard INT NOT NULL DEFAULT 0,
  priority SMALLINT NOT NULL DEFAULT 0,
  state VARCHAR(8) NOT NULL DEFAULT 'pending',
  failures INT NOT NULL DEFAULT 0,
  max_failures INT,
  reason VARCHAR(512),
  owner CHAR(36) CHARACTER SET ascii COLLATE ascii_bin,
  due_at BIGINT NOT NULL DEFAULT (TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000),
  created_at BIGINT NOT NULL DEFAULT (TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000),
  modified_at BIGINT NOT NULL DEFAULT (TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000),
  CONSTRAINT tp_pending_pk PRIMARY KEY (id, handler),
  CONSTRAINT tp_pending_id CHECK (id = LOWER(id)),
  CONSTRAINT tp_pending_state CHECK (state IN ('pending', 'handling', 'failed')),
  KEY tp_pending_due (handler, priority, due_at, id),
  KEY tp_pending_own (owner),
  KEY tp_pending_biz (biz_key),
  UNIQUE KEY tp_pending_dup (dedup_key, handler)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
/*M! PARTITION BY LIST COLUMNS (handler) (PARTITION others DEFAULT) */
/*!80000 PARTITION BY KEY (handler) PARTITIONS 16 */;

-- Done and skipped.
CREATE TABLE IF NOT EXISTS tp_finished (
  id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  handler VARCHAR(64) NOT NULL,
  biz_key VARCHAR(128),
  dedup_key VARCHAR(128),
  params LONGTEXT,
  shard INT NOT NULL,
  priority SMALLINT NOT NULL,
  state VARCHAR(8) NOT NULL,
  failures INT NOT NULL,
  max_failures INT,
  reason VARCHAR(512),
  owner CHAR(36) CHARACTER SET ascii COLLATE ascii_bin,
  due_at BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  modified_at BIGINT NOT NULL,
  settled_at BIGINT NOT NULL,
  CONSTRAINT tp_finished_pk PRIMARY KEY (id, settled_at),
  CONSTRAINT tp_finished_state CHECK (state IN ('done', 'skipped')),
  KEY tp_finished_biz (biz_key)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
PARTITION BY RANGE (settled_at) (PARTITION later VALUES LESS THAN MAXVALUE);

-- Out of retries; needs a person.
CREATE TABLE IF NOT EXISTS tp_failed (
  id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  handler VARCHAR(64) NOT NULL,
  biz_key VARCHAR(128),
  dedup_key VARCHAR(128),
  params LONGTEXT,
  shard INT NOT NULL,
  priority SMALLINT NOT NULL,
  state VARCHAR(8) NOT NULL,
  failures INT NOT NULL,
  max_failures INT,
  reason VARCHAR(512),
  owner CHAR(36) CHARACTER SET ascii COLLATE ascii_bin,
  due_at BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  modified_at BIGINT NOT NULL,
  settled_at BIGINT NOT NULL,
  CONSTRAINT tp_failed_pk PRIMARY KEY (id),
  CONSTRAINT tp_failed_state CHECK (state IN ('failed')),
  KEY tp_failed_biz (biz_key)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- All pools together, for people; times are UTC.
CREATE OR REPLACE VIEW tp_tasks AS
SELECT id, 'pending' AS pool, CASE WHEN state = 'failed' THEN CONCAT('failed-', failures) ELSE state END AS state,
       handler, biz_key, dedup_key, params, shard, priority, failures, max_failures, reason, owner,
       TIMESTAMP'1970-01-01 00:00:00' + INTERVAL due_at * 1000 MICROSECOND AS due, TIMESTAMP'1970-01-01 00:00:00' + INTERVAL created_at * 1000 MICROSECOND AS created,
       TIMESTAMP'1970-01-01 00:00:00' + INTERVAL modified_at * 1000 MICROSECOND AS modified, NULL AS settled
FROM tp_pending
UNION ALL
SELECT id, 'finished' AS pool, CASE WHEN state = 'failed' THEN CONCAT('failed-', failures) ELSE state END AS state,
       handler, biz_key, dedup_key, params, shard, priority, failures, max_failures, reason, owner,
       TIMESTAMP'1970-01-01 00:00:00' + INTERVAL due_at * 1000 MICROSECOND AS due, TIMESTAMP'1970-01-01 00:00:00' + INTERVAL created_at * 1000 MICROSECOND AS created,
       TIMESTAMP'1970-01-01 00:00:00' + INTERVAL modified_at * 1000 MICROSECOND AS modified, TIMESTAMP'1970-01-01 00:00:00' + INTERVAL settled_at * 1000 MICROSECOND AS settled
FROM tp_finished
UNION ALL
SELECT id, 'failed' AS pool, CASE WHEN state = 'failed' THEN CONCAT('failed-', failures) ELSE state END AS state,
       handler, biz_key, dedup_key, params, shard, priority, failures, max_failures, reason, owner,
       TIMESTAMP'1970-01-01 00:00:00' + INTERVAL due_at * 1000 MICROSECOND AS due, TIMESTAMP'1970-01-01 00:00:00' + INTERVAL created_at * 1000 MICROSECOND AS created,
       TIMESTAMP'1970-01-01 00:00:00' + INTERVAL modified_at * 1000 MICROSECOND AS modified, TIMESTAMP'1970-01-01 00:00:00' + INTERVAL settled_at * 1000 MICROSECOND AS settled
FROM tp_failed;

INSERT INTO tp_meta (name, value) VALUES ('schema', '1') ON DUPLICATE KEY UPDATE value = value;

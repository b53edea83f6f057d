-- taskpool schema, version 4, for MySQL 8.0.13 and MariaDB 10.6 and later.
-- mariadb DATABASE < 0004_audit.sql   or: taskpool schema install. After version 3.
-- Safe to run again; drops nothing. For another prefix replace tp_ throughout.

-- What people did, as a chain: one row for each transaction in which somebody changed something, written in that transaction, and never
-- changed or deleted. row_hash: SHA-256 over the other columns, prev_hash among them, which is the row_hash of seq - 1; docs/audit.md says
-- over which text. act: the same in all rows of one call. subject: the task, handler, schedule, worker or pool; absent when there were
-- several tasks. detail: what was selected or set, without keys and parameters of tasks. changed: how many tasks or rows. ids_hash: SHA-256
-- over the ids of the tasks. request_id: the request that somebody else approved, where there was one.
CREATE TABLE IF NOT EXISTS tp_audit (
  seq BIGINT NOT NULL,
  act CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  created_at BIGINT NOT NULL,
  who VARCHAR(128),
  action VARCHAR(16) NOT NULL,
  subject VARCHAR(128),
  detail VARCHAR(512),
  changed BIGINT NOT NULL,
  ids_hash VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
  request_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin,
  reason VARCHAR(512),
  prev_hash VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  row_hash VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  CONSTRAINT tp_audit_pk PRIMARY KEY (seq),
  KEY tp_audit_time (created_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- How many rows were ever written. Who writes one changes this row first, so that no two take the same place; workers never do.
CREATE TABLE IF NOT EXISTS tp_audit_head (
  id INT NOT NULL,
  seq BIGINT NOT NULL,
  CONSTRAINT tp_audit_head_pk PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

INSERT INTO tp_audit_head (id, seq) VALUES (1, 0) ON DUPLICATE KEY UPDATE id = id;

-- Libraries that know version 2 or 3 only go on working; what people do with them is not in the chain.
UPDATE tp_meta SET value = '4' WHERE name = 'schema_latest' AND value = '3';

-- The owner, whom no grant hinders, is refused too, until he drops these triggers. With a binary log they need the privilege SUPER or
-- log_bin_trust_function_creators = 1; without them all else works. TRUNCATE and DROP ask no trigger.
CREATE TRIGGER /*!80029 IF NOT EXISTS */ /*M!100600 IF NOT EXISTS */ tp_audit_update BEFORE UPDATE ON tp_audit
  FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the audit is append-only';
CREATE TRIGGER /*!80029 IF NOT EXISTS */ /*M!100600 IF NOT EXISTS */ tp_audit_delete BEFORE DELETE ON tp_audit
  FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the audit is append-only';

-- taskpool schema, version 4, for SQLite 3.38 and later.
-- sqlite3 -bail -cmd '.timeout 10000' FILE < 0004_audit.sql   or: taskpool schema install. After version 3.
-- Safe to run again; drops nothing. For another prefix replace tp_ throughout.

-- What people did, as a chain: one row for each transaction in which somebody changed something, written in that transaction, and never
-- changed or deleted. row_hash: SHA-256 over the other columns, prev_hash among them, which is the row_hash of seq - 1; docs/audit.md says
-- over which text. act: the same in all rows of one call. subject: the task, handler, schedule, worker or pool; absent when there were
-- several tasks. detail: what was selected or set, without keys and parameters of tasks. changed: how many tasks or rows. ids_hash: SHA-256
-- over the ids of the tasks. request_id: the request that somebody else approved, where there was one.
CREATE TABLE IF NOT EXISTS tp_audit (
  seq BIGINT NOT NULL,
  act CHAR(36) NOT NULL,
  created_at BIGINT NOT NULL,
  who VARCHAR(128),
  action VARCHAR(16) NOT NULL,
  subject VARCHAR(128),
  detail VARCHAR(512),
  changed BIGINT NOT NULL,
  ids_hash VARCHAR(64),
  request_id CHAR(36),
  reason VARCHAR(512),
  prev_hash VARCHAR(64) NOT NULL,
  row_hash VARCHAR(64) NOT NULL,
  CONSTRAINT tp_audit_pk PRIMARY KEY (seq)
);

-- How many rows were ever written. Who writes one changes this row first, so that no two take the same place; workers never do.
CREATE TABLE IF NOT EXISTS tp_audit_head (
  id INTEGER NOT NULL,
  seq BIGINT NOT NULL,
  CONSTRAINT tp_audit_head_pk PRIMARY KEY (id)
);

CREATE INDEX IF NOT EXISTS tp_audit_time ON tp_audit (created_at);

INSERT INTO tp_audit_head (id, seq) VALUES (1, 0) ON CONFLICT DO NOTHING;

-- Libraries that know version 2 or 3 only go on working; what people do with them is not in the chain.
UPDATE tp_meta SET value = '4' WHERE name = 'schema_latest' AND value = '3';

-- SQLite has no grants; who may write the file may drop these triggers.
CREATE TRIGGER IF NOT EXISTS tp_audit_update BEFORE UPDATE ON tp_audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE TRIGGER IF NOT EXISTS tp_audit_delete BEFORE DELETE ON tp_audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;

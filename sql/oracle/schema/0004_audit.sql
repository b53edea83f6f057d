-- taskpool schema, version 4, for Oracle Database 11.2 and later.
-- sqlplus USER @0004_audit.sql   or: taskpool schema install. After version 3.
-- Drops nothing. For another prefix replace tp_ throughout.

-- What people did, as a chain: one row for each transaction in which somebody changed something, written in that transaction, and never
-- changed or deleted. row_hash: SHA-256 over the other columns, prev_hash among them, which is the row_hash of seq - 1; docs/audit.md says
-- over which text. act: the same in all rows of one call. subject: the task, handler, schedule, worker or pool; absent when there were
-- several tasks. detail: what was selected or set, without keys and parameters of tasks. changed: how many tasks or rows. ids_hash: SHA-256
-- over the ids of the tasks. request_id: the request that somebody else approved, where there was one.
CREATE TABLE tp_audit (
  seq NUMBER(19) NOT NULL,
  act VARCHAR2(36) NOT NULL,
  created_at NUMBER(19) NOT NULL,
  who VARCHAR2(128),
  action VARCHAR2(16) NOT NULL,
  subject VARCHAR2(128),
  detail VARCHAR2(512),
  changed NUMBER(19) NOT NULL,
  ids_hash VARCHAR2(64),
  request_id VARCHAR2(36),
  reason VARCHAR2(512),
  prev_hash VARCHAR2(64) NOT NULL,
  row_hash VARCHAR2(64) NOT NULL,
  CONSTRAINT tp_audit_pk PRIMARY KEY (seq)
);

-- How many rows were ever written. Who writes one changes this row first, so that no two take the same place; workers never do.
CREATE TABLE tp_audit_head (
  id NUMBER(10) NOT NULL,
  seq NUMBER(19) NOT NULL,
  CONSTRAINT tp_audit_head_pk PRIMARY KEY (id)
);

CREATE INDEX tp_audit_time ON tp_audit (created_at);

INSERT INTO tp_audit_head (id, seq)
SELECT 1, 0 FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM tp_audit_head WHERE id = 1);

-- Libraries that know version 2 or 3 only go on working; what people do with them is not in the chain.
UPDATE tp_meta SET value = '4' WHERE name = 'schema_latest' AND value = '3';

-- The owner, whom no grant hinders, is refused too, until he drops these triggers. They need the privilege CREATE TRIGGER; without them all
-- else works. TRUNCATE and DROP ask no trigger.
CREATE OR REPLACE TRIGGER tp_audit_update BEFORE UPDATE ON tp_audit FOR EACH ROW
DECLARE
  append_only EXCEPTION;
BEGIN
  RAISE append_only;
END;
/

CREATE OR REPLACE TRIGGER tp_audit_delete BEFORE DELETE ON tp_audit FOR EACH ROW
DECLARE
  append_only EXCEPTION;
BEGIN
  RAISE append_only;
END;
/

-- taskpool schema, version 4, for PostgreSQL 12 and later.
-- psql -v ON_ERROR_STOP=1 -1 -f 0004_audit.sql   or: taskpool schema install. After version 3.
-- Safe to run again; drops nothing. For another prefix replace tp_ throughout.

-- What people did, as a chain: one row for each transaction in which somebody changed something, written in that transaction, and never
-- changed or deleted. row_hash: SHA-256 over the other columns, prev_hash among them, which is the row_hash of seq - 1; docs/audit.md says
-- over which text. act: the same in all rows of one call. subject: the task, handler, schedule, worker or pool; absent when there were
-- several tasks. detail: what was selected or set, without keys and parameters of tasks. changed: how many tasks or rows. ids_hash: SHA-256
-- over the ids of the tasks. request_id: the request that somebody else approved, where there was one.
CREATE TABLE IF NOT EXISTS tp_audit (
  seq bigint NOT NULL,
  act uuid NOT NULL,
  created_at bigint NOT NULL,
  who varchar(128),
  action varchar(16) NOT NULL,
  subject varchar(128),
  detail varchar(512),
  changed bigint NOT NULL,
  ids_hash varchar(64),
  request_id uuid,
  reason varchar(512),
  prev_hash varchar(64) NOT NULL,
  row_hash varchar(64) NOT NULL,
  CONSTRAINT tp_audit_pk PRIMARY KEY (seq)
);

-- How many rows were ever written. Who writes one changes this row first, so that no two take the same place; workers never do.
CREATE TABLE IF NOT EXISTS tp_audit_head (
  id integer NOT NULL,
  seq bigint NOT NULL,
  CONSTRAINT tp_audit_head_pk PRIMARY KEY (id)
);

CREATE INDEX IF NOT EXISTS tp_audit_time ON tp_audit (created_at);

INSERT INTO tp_audit_head (id, seq) VALUES (1, 0) ON CONFLICT DO NOTHING;

-- Libraries that know version 2 or 3 only go on working; what people do with them is not in the chain.
UPDATE tp_meta SET value = '4' WHERE name = 'schema_latest' AND value = '3';

-- The owner, whom no grant hinders, is refused too, until he drops these triggers.
CREATE OR REPLACE FUNCTION tp_audit_refuse() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN RAISE EXCEPTION 'the audit is append-only'; END $$;
DO $$ BEGIN CREATE TRIGGER tp_audit_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON tp_audit
  FOR EACH STATEMENT EXECUTE FUNCTION tp_audit_refuse(); EXCEPTION WHEN duplicate_object THEN NULL; END $$;

-- taskpool schema, version 5, for PostgreSQL 12 and later.
-- psql -v ON_ERROR_STOP=1 -1 -f 0005_requests.sql   or: taskpool schema install. After version 4.
-- Safe to run again; drops nothing. For another prefix replace tp_ throughout.

-- What people asked for that needs a second person. state: waiting, running (only inside the transaction that carries it out), done,
-- refused, stale (its rows had changed), expired. selection: for people; of a setting its new value. tasks: how many rows of
-- tp_request_row it had. From fields on: the new content of an edit, and the key of an erasure; emptied when it waits no more.
CREATE TABLE IF NOT EXISTS tp_request (
  id uuid NOT NULL,
  act varchar(9) NOT NULL,
  state varchar(8) NOT NULL,
  pool varchar(8),
  selection varchar(2000),
  tasks bigint NOT NULL,
  done bigint,
  asked_by varchar(128) NOT NULL,
  why varchar(512),
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  decided_by varchar(128),
  decision varchar(512),
  decided_at bigint,
  fields integer,
  params text,
  biz_key varchar(128),
  dedup_key varchar(128),
  priority smallint,
  due_at bigint,
  max_failures integer,
  retried smallint,
  CONSTRAINT tp_request_pk PRIMARY KEY (id)
);

-- The rows that a waiting request is about, as they were when it was written: a task's id, a key of the ledger or an event's id; and
-- when a task was changed last.
CREATE TABLE IF NOT EXISTS tp_request_row (
  request_id uuid NOT NULL,
  pool varchar(8) NOT NULL,
  row_key varchar(128) NOT NULL,
  state varchar(8),
  modified_at bigint NOT NULL,
  CONSTRAINT tp_request_row_pk PRIMARY KEY (request_id, pool, row_key)
);

CREATE INDEX IF NOT EXISTS tp_request_state ON tp_request (state, created_at);

UPDATE tp_meta SET value = '5' WHERE name = 'schema_latest' AND value IN ('3', '4');

-- A library that does not know of requests records what it does in the history, in the same transaction: while four eyes is on that is
-- refused, but in a transaction that carries out a request, which nobody else sees running.
CREATE OR REPLACE FUNCTION tp_eyes_refuse() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN IF EXISTS (SELECT 1 FROM tp_meta WHERE name = 'four_eyes' AND value LIKE 'on %') AND NOT EXISTS (SELECT 1 FROM tp_request WHERE state = 'running') THEN
  RAISE EXCEPTION 'four eyes is on for this pool: a second person is to approve, by a newer taskpool'; END IF; RETURN NEW; END $$;
DO $$ BEGIN CREATE TRIGGER tp_history_eyes BEFORE INSERT ON tp_history FOR EACH ROW
  WHEN (NEW.event IN ('skipped', 'purged', 'edited', 'erased', 'kept'))
  EXECUTE FUNCTION tp_eyes_refuse(); EXCEPTION WHEN duplicate_object THEN NULL; END $$;

-- taskpool schema, version 5, for SQLite 3.38 and later.
-- sqlite3 -bail -cmd '.timeout 10000' FILE < 0005_requests.sql   or: taskpool schema install. After version 4.
-- Safe to run again; drops nothing. For another prefix replace tp_ throughout.

-- What people asked for that needs a second person. state: waiting, running (only inside the transaction that carries it out), done,
-- refused, stale (its rows had changed), expired. selection: for people; of a setting its new value. tasks: how many rows of
-- tp_request_row it had. From fields on: the new content of an edit, and the key of an erasure; emptied when it waits no more.
CREATE TABLE IF NOT EXISTS tp_request (
  id CHAR(36) NOT NULL,
  act VARCHAR(9) NOT NULL,
  state VARCHAR(8) NOT NULL,
  pool VARCHAR(8),
  selection VARCHAR(2000),
  tasks BIGINT NOT NULL,
  done BIGINT,
  asked_by VARCHAR(128) NOT NULL,
  why VARCHAR(512),
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  decided_by VARCHAR(128),
  decision VARCHAR(512),
  decided_at BIGINT,
  fields INTEGER,
  params TEXT,
  biz_key VARCHAR(128),
  dedup_key VARCHAR(128),
  priority SMALLINT,
  due_at BIGINT,
  max_failures INTEGER,
  retried SMALLINT,
  CONSTRAINT tp_request_pk PRIMARY KEY (id)
);

-- The rows that a waiting request is about, as they were when it was written: a task's id, a key of the ledger or an event's id; and
-- when a task was changed last.
CREATE TABLE IF NOT EXISTS tp_request_row (
  request_id CHAR(36) NOT NULL,
  pool VARCHAR(8) NOT NULL,
  row_key VARCHAR(128) NOT NULL,
  state VARCHAR(8),
  modified_at BIGINT NOT NULL,
  CONSTRAINT tp_request_row_pk PRIMARY KEY (request_id, pool, row_key)
);

CREATE INDEX IF NOT EXISTS tp_request_state ON tp_request (state, created_at);

UPDATE tp_meta SET value = '5' WHERE name = 'schema_latest' AND value IN ('3', '4');

-- A library that does not know of requests records what it does in the history, in the same transaction: while four eyes is on that is
-- refused, but in a transaction that carries out a request, which nobody else sees running.
CREATE TRIGGER IF NOT EXISTS tp_history_eyes BEFORE INSERT ON tp_history
WHEN NEW.event IN ('skipped', 'purged', 'edited', 'erased', 'kept') AND EXISTS (SELECT 1 FROM tp_meta WHERE name = 'four_eyes' AND value LIKE 'on %')
  AND NOT EXISTS (SELECT 1 FROM tp_request WHERE state = 'running')
BEGIN SELECT RAISE(ABORT, 'four eyes is on for this pool: a second person is to approve, by a newer taskpool'); END;

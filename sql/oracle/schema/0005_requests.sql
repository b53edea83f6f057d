-- taskpool schema, version 5, for Oracle Database 11.2 and later.
-- sqlplus USER @0005_requests.sql   or: taskpool schema install. After version 4.
-- Drops nothing. For another prefix replace tp_ throughout.

-- What people asked for that needs a second person. state: waiting, running (only inside the transaction that carries it out), done,
-- refused, stale (its rows had changed), expired. selection: for people; of a setting its new value. tasks: how many rows of
-- tp_request_row it had. From fields on: the new content of an edit, and the key of an erasure; emptied when it waits no more.
CREATE TABLE tp_request (
  id VARCHAR2(36) NOT NULL,
  act VARCHAR2(9) NOT NULL,
  state VARCHAR2(8) NOT NULL,
  pool VARCHAR2(8),
  selection VARCHAR2(2000),
  tasks NUMBER(19) NOT NULL,
  done NUMBER(19),
  asked_by VARCHAR2(128) NOT NULL,
  why VARCHAR2(512),
  created_at NUMBER(19) NOT NULL,
  expires_at NUMBER(19) NOT NULL,
  decided_by VARCHAR2(128),
  decision VARCHAR2(512),
  decided_at NUMBER(19),
  fields NUMBER(10),
  params CLOB,
  biz_key VARCHAR2(128),
  dedup_key VARCHAR2(128),
  priority NUMBER(5),
  due_at NUMBER(19),
  max_failures NUMBER(10),
  retried NUMBER(5),
  CONSTRAINT tp_request_pk PRIMARY KEY (id)
);

-- The rows that a waiting request is about, as they were when it was written: a task's id, a key of the ledger or an event's id; and
-- when a task was changed last.
CREATE TABLE tp_request_row (
  request_id VARCHAR2(36) NOT NULL,
  pool VARCHAR2(8) NOT NULL,
  row_key VARCHAR2(128) NOT NULL,
  state VARCHAR2(8),
  modified_at NUMBER(19) NOT NULL,
  CONSTRAINT tp_request_row_pk PRIMARY KEY (request_id, pool, row_key)
);

CREATE INDEX tp_request_state ON tp_request (state, created_at);

UPDATE tp_meta SET value = '5' WHERE name = 'schema_latest' AND value IN ('3', '4');

-- A library that does not know of requests records what it does in the history, in the same transaction: while four eyes is on that is
-- refused, but in a transaction that carries out a request, which nobody else sees running.
-- Privileges as for the triggers of version 4.
CREATE OR REPLACE TRIGGER tp_history_eyes BEFORE INSERT ON tp_history FOR EACH ROW
DECLARE
  four_eyes_is_on EXCEPTION;
  refused NUMBER(10);
BEGIN
  IF :NEW.event IN ('skipped', 'purged', 'edited', 'erased', 'kept') THEN
    SELECT COUNT(*) INTO refused FROM tp_meta
    WHERE name = 'four_eyes' AND value LIKE 'on %' AND NOT EXISTS (SELECT 1 FROM tp_request WHERE state = 'running');
    IF refused > 0 THEN
      RAISE four_eyes_is_on;
    END IF;
  END IF;
END;
/

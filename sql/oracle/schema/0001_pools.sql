-- taskpool schema, version 1, for Oracle Database 11.2 and later.
-- sqlplus USER @0001_functions.sql @0001_pools.sql   or: taskpool schema install
-- Drops nothing; what exists already is reported by sqlplus and left as it is. For another prefix replace tp_ throughout.

-- What is installed here.
CREATE TABLE tp_meta (
  name VARCHAR2(30) NOT NULL,
  value VARCHAR2(200) NOT NULL,
  CONSTRAINT tp_meta_pk PRIMARY KEY (name)
);

-- The hot pool: what is to be done or being done. due_at says when a row may next be looked at: its time, its next
-- retry or, while handling, when the lease lapses.
CREATE TABLE tp_pending (
  id VARCHAR2(36) NOT NULL,
  handler VARCHAR2(64) NOT NULL,
  biz_key VARCHAR2(128),
  dedup_key VARCHAR2(128),
  params CLOB,
  shard NUMBER(10) DEFAULT 0 NOT NULL,
  priority NUMBER(5) DEFAULT 0 NOT NULL,
  state VARCHAR2(8) DEFAULT 'pending' NOT NULL,
  failures NUMBER(10) DEFAULT 0 NOT NULL,
  max_failures NUMBER(10),
  reason VARCHAR2(512),
  owner VARCHAR2(36),
  due_at NUMBER(19) DEFAULT 0 NOT NULL,
  created_at NUMBER(19) DEFAULT 0 NOT NULL,
  modified_at NUMBER(19) DEFAULT 0 NOT NULL,
  CONSTRAINT tp_pending_pk PRIMARY KEY (id),
  CONSTRAINT tp_pending_id CHECK (id = LOWER(id)),
  CONSTRAINT tp_pending_state CHECK (state IN ('pending', 'handling', 'failed'))
);

-- Done and skipped.
CREATE TABLE tp_finished (
  id VARCHAR2(36) NOT NULL,
  handler VARCHAR2(64) NOT NULL,
  biz_key VARCHAR2(128),
  dedup_key VARCHAR2(128),
  params CLOB,
  shard NUMBER(10) NOT NULL,
  priority NUMBER(5) NOT NULL,
  state VARCHAR2(8) NOT NULL,
  failures NUMBER(10) NOT NULL,
  max_failures NUMBER(10),
  reason VARCHAR2(512),
  owner VARCHAR2(36),
  due_at NUMBER(19) NOT NULL,
  created_at NUMBER(19) NOT NULL,
  modified_at NUMBER(19) NOT NULL,
  settled_at NUMBER(19) NOT NULL,
  CONSTRAINT tp_finished_pk PRIMARY KEY (id),
  CONSTRAINT tp_finished_state CHECK (state IN ('done', 'skipped'))
);

-- Out of retries; needs a person.
CREATE TABLE tp_failed (
  id VARCHAR2(36) NOT NULL,
  handler VARCHAR2(64) NOT NULL,
  biz_key VARCHAR2(128),
  dedup_key VARCHAR2(128),
  params CLOB,
  shard NUMBER(10) NOT NULL,
  priority NUMBER(5) NOT NULL,
  state VARCHAR2(8) NOT NULL,
  failures NUMBER(10) NOT NULL,
  max_failures NUMBER(10),
  reason VARCHAR2(512),
  owner VARCHAR2(36),
  due_at NUMBER(19) NOT NULL,
  created_at NUMBER(19) NOT NULL,
  modified_at NUMBER(19) NOT NULL,
  settled_at NUMBER(19) NOT NULL,
  CONSTRAINT tp_failed_pk PRIMARY KEY (id),
  CONSTRAINT tp_failed_state CHECK (state IN ('failed'))
);

-- due: what a claim reads. own: what a token holds. dup: at most one open task per dedup_key.
CREATE INDEX tp_pending_due ON tp_pending (handler, priority, due_at, id);
CREATE INDEX tp_pending_own ON tp_pending (owner);
CREATE INDEX tp_pending_biz ON tp_pending (biz_key);
CREATE UNIQUE INDEX tp_pending_dup ON tp_pending (dedup_key);
CREATE INDEX tp_finished_biz ON tp_finished (biz_key);
CREATE INDEX tp_failed_biz ON tp_failed (biz_key);

-- Fills in what a producer left out: a column default may not call a function.
CREATE TRIGGER tp_pending_new BEFORE INSERT ON tp_pending FOR EACH ROW
BEGIN
  IF :NEW.id IS NULL THEN
    :NEW.id := tp_new_id();
  END IF;
  :NEW.id := LOWER(:NEW.id);
  IF :NEW.due_at = 0 THEN
    :NEW.due_at := tp_now();
  END IF;
  IF :NEW.created_at = 0 THEN
    :NEW.created_at := tp_now();
  END IF;
  IF :NEW.modified_at = 0 THEN
    :NEW.modified_at := :NEW.created_at;
  END IF;
END;
/

-- All pools together, for people; times are UTC.
CREATE OR REPLACE VIEW tp_tasks AS
SELECT id, 'pending' AS pool, CASE WHEN state = 'failed' THEN 'failed-' || failures ELSE state END AS state,
       handler, biz_key, dedup_key, params, shard, priority, failures, max_failures, reason, owner,
       tp_utc(due_at) AS due, tp_utc(created_at) AS created,
       tp_utc(modified_at) AS modified, NULL AS settled
FROM tp_pending
UNION ALL
SELECT id, 'finished' AS pool, CASE WHEN state = 'failed' THEN 'failed-' || failures ELSE state END AS state,
       handler, biz_key, dedup_key, params, shard, priority, failures, max_failures, reason, owner,
       tp_utc(due_at) AS due, tp_utc(created_at) AS created,
       tp_utc(modified_at) AS modified, tp_utc(settled_at) AS settled
FROM tp_finished
UNION ALL
SELECT id, 'failed' AS pool, CASE WHEN state = 'failed' THEN 'failed-' || failures ELSE state END AS state,
       handler, biz_key, dedup_key, params, shard, priority, failures, max_failures, reason, owner,
       tp_utc(due_at) AS due, tp_utc(created_at) AS created,
       tp_utc(modified_at) AS modified, tp_utc(settled_at) AS settled
FROM tp_failed;

INSERT INTO tp_meta (name, value)
SELECT 'schema', '1' FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM tp_meta WHERE name = 'schema');

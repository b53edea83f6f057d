-- taskpool schema, version 1, for any database with standard SQL types; write the database's own type for long text
-- (1 MiB and more) where it says CLOB. taskpool schema install asks the driver for it.
-- Drops nothing. For another prefix replace tp_ throughout. Text should compare byte by byte: choose such a collation.
-- Producers without the library give every column: there is no portable default for an id or a time.

-- What is installed here.
CREATE TABLE tp_meta (
  name VARCHAR(30) NOT NULL,
  value VARCHAR(200) NOT NULL,
  CONSTRAINT tp_meta_pk PRIMARY KEY (name)
);

-- The hot pool: what is to be done or being done. due_at says when a row may next be looked at: its time, its next
-- retry or, while handling, when the lease lapses.
CREATE TABLE tp_pending (
  id CHAR(36) NOT NULL,
  handler VARCHAR(64) NOT NULL,
  biz_key VARCHAR(128),
  dedup_key VARCHAR(128),
  params CLOB,
  shard INTEGER DEFAULT 0 NOT NULL,
  priority SMALLINT DEFAULT 0 NOT NULL,
  state VARCHAR(8) DEFAULT 'pending' NOT NULL,
  failures INTEGER DEFAULT 0 NOT NULL,
  max_failures INTEGER,
  reason VARCHAR(512),
  owner CHAR(36),
  due_at BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  modified_at BIGINT NOT NULL,
  CONSTRAINT tp_pending_pk PRIMARY KEY (id),
  CONSTRAINT tp_pending_id CHECK (id = LOWER(id)),
  CONSTRAINT tp_pending_state CHECK (state IN ('pending', 'handling', 'failed'))
);

-- Done and skipped.
CREATE TABLE tp_finished (
  id CHAR(36) NOT NULL,
  handler VARCHAR(64) NOT NULL,
  biz_key VARCHAR(128),
  dedup_key VARCHAR(128),
  params CLOB,
  shard INTEGER NOT NULL,
  priority SMALLINT NOT NULL,
  state VARCHAR(8) NOT NULL,
  failures INTEGER NOT NULL,
  max_failures INTEGER,
  reason VARCHAR(512),
  owner CHAR(36),
  due_at BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  modified_at BIGINT NOT NULL,
  settled_at BIGINT NOT NULL,
  CONSTRAINT tp_finished_pk PRIMARY KEY (id),
  CONSTRAINT tp_finished_state CHECK (state IN ('done', 'skipped'))
);

-- Out of retries; needs a person.
CREATE TABLE tp_failed (
  id CHAR(36) NOT NULL,
  handler VARCHAR(64) NOT NULL,
  biz_key VARCHAR(128),
  dedup_key VARCHAR(128),
  params CLOB,
  shard INTEGER NOT NULL,
  priority SMALLINT NOT NULL,
  state VARCHAR(8) NOT NULL,
  failures INTEGER NOT NULL,
  max_failures INTEGER,
  reason VARCHAR(512),
  owner CHAR(36),
  due_at BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  modified_at BIGINT NOT NULL,
  settled_at BIGINT NOT NULL,
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

-- All pools together, for people.
CREATE VIEW tp_tasks AS
SELECT id, 'pending' AS pool, state,
       handler, biz_key, dedup_key, params, shard, priority, failures, max_failures, reason, owner,
       due_at AS due, created_at AS created,
       modified_at AS modified, 0 AS settled
FROM tp_pending
UNION ALL
SELECT id, 'finished' AS pool, state,
       handler, biz_key, dedup_key, params, shard, priority, failures, max_failures, reason, owner,
       due_at AS due, created_at AS created,
       modified_at AS modified, settled_at AS settled
FROM tp_finished
UNION ALL
SELECT id, 'failed' AS pool, state,
       handler, biz_key, dedup_key, params, shard, priority, failures, max_failures, reason, owner,
       due_at AS due, created_at AS created,
       modified_at AS modified, settled_at AS settled
FROM tp_failed;

INSERT INTO tp_meta (name, value) VALUES ('schema', '1');

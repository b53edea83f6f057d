-- taskpool schema, version 1, for SQLite 3.38 and later.
-- sqlite3 FILE < 0001_pools.sql   or: taskpool schema install
-- Safe to run again; drops nothing. For another prefix replace tp_ throughout.

-- What is installed here.
CREATE TABLE IF NOT EXISTS tp_meta (
  name VARCHAR(30) NOT NULL,
  value VARCHAR(200) NOT NULL,
  CONSTRAINT tp_meta_pk PRIMARY KEY (name)
);

-- The hot pool: what is to be done or being done. due_at says when a row may next be looked at: its time, its next
-- retry or, while handling, when the lease lapses.
CREATE TABLE IF NOT EXISTS tp_pending (
  id CHAR(36) NOT NULL DEFAULT (
    lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-a' ||
          substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))),
  handler VARCHAR(64) NOT NULL,
  biz_key VARCHAR(128),
  dedup_key VARCHAR(128),
  params TEXT,
  shard INTEGER NOT NULL DEFAULT 0,
  priority SMALLINT NOT NULL DEFAULT 0,
  state VARCHAR(8) NOT NULL DEFAULT 'pending',
  failures INTEGER NOT NULL DEFAULT 0,
  max_failures INTEGER,
  reason VARCHAR(512),
  owner CHAR(36),
  due_at BIGINT NOT NULL DEFAULT (CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)),
  created_at BIGINT NOT NULL DEFAULT (CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)),
  modified_at BIGINT NOT NULL DEFAULT (CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)),
  CONSTRAINT tp_pending_pk PRIMARY KEY (id),
  CONSTRAINT tp_pending_id CHECK (id = LOWER(id)),
  CONSTRAINT tp_pending_state CHECK (state IN ('pending', 'handling', 'failed'))
);

-- Done and skipped.
CREATE TABLE IF NOT EXISTS tp_finished (
  id CHAR(36) NOT NULL,
  handler VARCHAR(64) NOT NULL,
  biz_key VARCHAR(128),
  dedup_key VARCHAR(128),
  params TEXT,
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
CREATE TABLE IF NOT EXISTS tp_failed (
  id CHAR(36) NOT NULL,
  handler VARCHAR(64) NOT NULL,
  biz_key VARCHAR(128),
  dedup_key VARCHAR(128),
  params TEXT,
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
CREATE INDEX IF NOT EXISTS tp_pending_due ON tp_pending (handler, priority, due_at, id);
CREATE INDEX IF NOT EXISTS tp_pending_own ON tp_pending (owner);
CREATE INDEX IF NOT EXISTS tp_pending_biz ON tp_pending (biz_key);
CREATE UNIQUE INDEX IF NOT EXISTS tp_pending_dup ON tp_pending (dedup_key);
CREATE INDEX IF NOT EXISTS tp_finished_biz ON tp_finished (biz_key);
CREATE INDEX IF NOT EXISTS tp_failed_biz ON tp_failed (biz_key);

-- All pools together, for people; times are UTC.
CREATE VIEW IF NOT EXISTS tp_tasks AS
SELECT id, 'pending' AS pool, CASE WHEN state = 'failed' THEN 'failed-' || failures ELSE state END AS state,
       handler, biz_key, dedup_key, params, shard, priority, failures, max_failures, reason, owner,
       strftime('%Y-%m-%d %H:%M:%f', due_at / 1000.0, 'unixepoch') AS due, strftime('%Y-%m-%d %H:%M:%f', created_at / 1000.0, 'unixepoch') AS created,
       strftime('%Y-%m-%d %H:%M:%f', modified_at / 1000.0, 'unixepoch') AS modified, NULL AS settled
FROM tp_pending
UNION ALL
SELECT id, 'finished' AS pool, CASE WHEN state = 'failed' THEN 'failed-' || failures ELSE state END AS state,
       handler, biz_key, dedup_key, params, shard, priority, failures, max_failures, reason, owner,
       strftime('%Y-%m-%d %H:%M:%f', due_at / 1000.0, 'unixepoch') AS due, strftime('%Y-%m-%d %H:%M:%f', created_at / 1000.0, 'unixepoch') AS created,
       strftime('%Y-%m-%d %H:%M:%f', modified_at / 1000.0, 'unixepoch') AS modified, strftime('%Y-%m-%d %H:%M:%f', settled_at / 1000.0, 'unixepoch') AS settled
FROM tp_finished
UNION ALL
SELECT id, 'failed' AS pool, CASE WHEN state = 'failed' THEN 'failed-' || failures ELSE state END AS state,
       handler, biz_key, dedup_key, params, shard, priority, failures, max_failures, reason, owner,
       strftime('%Y-%m-%d %H:%M:%f', due_at / 1000.0, 'unixepoch') AS due, strftime('%Y-%m-%d %H:%M:%f', created_at / 1000.0, 'unixepoch') AS created,
       strftime('%Y-%m-%d %H:%M:%f', modified_at / 1000.0, 'unixepoch') AS modified, strftime('%Y-%m-%d %H:%M:%f', settled_at / 1000.0, 'unixepoch') AS settled
FROM tp_failed;

INSERT INTO tp_meta (name, value) VALUES ('schema', '1') ON CONFLICT DO NOTHING;

-- taskpool schema, version 2, for SQLite 3.38 and later.
-- sqlite3 FILE < 0002_services.sql   or: taskpool schema install. After version 1.
-- Safe to run again; drops no data. For another prefix replace tp_ throughout.

-- What happened to tasks besides being claimed and done: failures, lapsed leases, what operators did. alert_at: when
-- somebody is still to be told that the task gave up.
CREATE TABLE IF NOT EXISTS tp_history (
  id CHAR(36) NOT NULL,
  task_id CHAR(36),
  handler VARCHAR(64),
  event VARCHAR(8) NOT NULL,
  attempt INTEGER,
  owner CHAR(36),
  who VARCHAR(128),
  reason VARCHAR(512),
  created_at BIGINT NOT NULL,
  alert_at BIGINT,
  CONSTRAINT tp_history_pk PRIMARY KEY (id)
);

-- The idempotency ledger: what was done already. owner: the try that did it.
CREATE TABLE IF NOT EXISTS tp_once (
  once_key VARCHAR(128) NOT NULL,
  handler VARCHAR(64),
  task_id CHAR(36),
  owner CHAR(36) NOT NULL,
  created_at BIGINT NOT NULL,
  CONSTRAINT tp_once_pk PRIMARY KEY (once_key)
);

-- Rules by which tasks are made. next_at: the next planned time, absent when there is none.
CREATE TABLE IF NOT EXISTS tp_schedule (
  name VARCHAR(64) NOT NULL,
  rule VARCHAR(200) NOT NULL,
  time_zone VARCHAR(64),
  handler VARCHAR(64) NOT NULL,
  params TEXT,
  biz_key VARCHAR(128),
  shard INTEGER NOT NULL,
  priority SMALLINT NOT NULL,
  max_failures INTEGER,
  missed VARCHAR(8) NOT NULL,
  missed_max INTEGER NOT NULL,
  alone SMALLINT NOT NULL,
  paused SMALLINT NOT NULL,
  next_at BIGINT,
  last_at BIGINT,
  last_task CHAR(36),
  created_at BIGINT NOT NULL,
  modified_at BIGINT NOT NULL,
  CONSTRAINT tp_schedule_pk PRIMARY KEY (name)
);

-- Workers, for people to look at; nothing is decided by it but whether to take to leases after a death.
CREATE TABLE IF NOT EXISTS tp_worker (
  id CHAR(36) NOT NULL,
  name VARCHAR(128) NOT NULL,
  host VARCHAR(128) NOT NULL,
  pid INTEGER NOT NULL,
  handlers VARCHAR(512) NOT NULL,
  plan VARCHAR(8) NOT NULL,
  threads INTEGER NOT NULL,
  state VARCHAR(8) NOT NULL,
  running INTEGER NOT NULL,
  claimed BIGINT NOT NULL,
  done BIGINT NOT NULL,
  failed BIGINT NOT NULL,
  started_at BIGINT NOT NULL,
  seen_at BIGINT NOT NULL,
  CONSTRAINT tp_worker_pk PRIMARY KEY (id)
);

-- Handlers whose tasks are not to be claimed.
CREATE TABLE IF NOT EXISTS tp_pause (
  handler VARCHAR(64) NOT NULL,
  who VARCHAR(128),
  reason VARCHAR(512),
  created_at BIGINT NOT NULL,
  CONSTRAINT tp_pause_pk PRIMARY KEY (handler)
);

CREATE INDEX IF NOT EXISTS tp_history_task ON tp_history (task_id, created_at);
CREATE INDEX IF NOT EXISTS tp_history_alert ON tp_history (alert_at);
CREATE INDEX IF NOT EXISTS tp_history_age ON tp_history (created_at);
CREATE INDEX IF NOT EXISTS tp_once_age ON tp_once (created_at);
CREATE INDEX IF NOT EXISTS tp_schedule_next ON tp_schedule (next_at);
CREATE INDEX IF NOT EXISTS tp_worker_seen ON tp_worker (seen_at);

-- By age, so that deleting the oldest reads no others. In a pool with much history this takes its time.
CREATE INDEX IF NOT EXISTS tp_finished_age ON tp_finished (settled_at);
CREATE INDEX IF NOT EXISTS tp_failed_age ON tp_failed (settled_at);

-- What a claim reads that asks for some shards only. Shards are numbered from 1; tasks for all servers cost nothing here.
CREATE INDEX IF NOT EXISTS tp_pending_shd ON tp_pending (handler, shard, priority, due_at, id) WHERE shard <> 0;

-- Most rows have no owner, biz_key or dedup_key: indexes that leave those out take the place of version 1's.
CREATE INDEX IF NOT EXISTS tp_pending_held ON tp_pending (owner) WHERE owner IS NOT NULL;
CREATE UNIQUE INDEX IF NOT EXISTS tp_pending_one ON tp_pending (dedup_key) WHERE dedup_key IS NOT NULL;
CREATE INDEX IF NOT EXISTS tp_pending_key ON tp_pending (biz_key) WHERE biz_key IS NOT NULL;
CREATE INDEX IF NOT EXISTS tp_finished_key ON tp_finished (biz_key) WHERE biz_key IS NOT NULL;
CREATE INDEX IF NOT EXISTS tp_failed_key ON tp_failed (biz_key) WHERE biz_key IS NOT NULL;
DROP INDEX IF EXISTS tp_pending_own;
DROP INDEX IF EXISTS tp_pending_biz;
DROP INDEX IF EXISTS tp_pending_dup;
DROP INDEX IF EXISTS tp_finished_biz;
DROP INDEX IF EXISTS tp_failed_biz;

UPDATE tp_meta SET value = '2' WHERE name = 'schema' AND value = '1';

-- taskpool schema, version 2, for PostgreSQL 12 and later.
-- psql -f 0002_services.sql   or: taskpool schema install. After version 1.
-- Safe to run again; drops no data. For another prefix replace tp_ throughout.

-- What happened to tasks besides being claimed and done: failures, lapsed leases, what operators did. alert_at: when
-- somebody is still to be told that the task gave up.
CREATE TABLE IF NOT EXISTS tp_history (
  id uuid NOT NULL,
  task_id uuid,
  handler varchar(64),
  event varchar(8) NOT NULL,
  attempt integer,
  owner uuid,
  who varchar(128),
  reason varchar(512),
  created_at bigint NOT NULL,
  alert_at bigint,
  CONSTRAINT tp_history_pk PRIMARY KEY (id)
);

-- The idempotency ledger: what was done already. owner: the try that did it.
CREATE TABLE IF NOT EXISTS tp_once (
  once_key varchar(128) NOT NULL,
  handler varchar(64),
  task_id uuid,
  owner uuid NOT NULL,
  created_at bigint NOT NULL,
  CONSTRAINT tp_once_pk PRIMARY KEY (once_key)
);

-- Rules by which tasks are made. next_at: the next planned time, absent when there is none.
CREATE TABLE IF NOT EXISTS tp_schedule (
  name varchar(64) NOT NULL,
  rule varchar(200) NOT NULL,
  time_zone varchar(64),
  handler varchar(64) NOT NULL,
  params text,
  biz_key varchar(128),
  shard integer NOT NULL,
  priority smallint NOT NULL,
  max_failures integer,
  missed varchar(8) NOT NULL,
  missed_max integer NOT NULL,
  alone smallint NOT NULL,
  paused smallint NOT NULL,
  next_at bigint,
  last_at bigint,
  last_task uuid,
  created_at bigint NOT NULL,
  modified_at bigint NOT NULL,
  CONSTRAINT tp_schedule_pk PRIMARY KEY (name)
);

-- Workers, for people to look at; nothing is decided by it but whether to take to leases after a death.
CREATE TABLE IF NOT EXISTS tp_worker (
  id uuid NOT NULL,
  name varchar(128) NOT NULL,
  host varchar(128) NOT NULL,
  pid integer NOT NULL,
  handlers varchar(512) NOT NULL,
  plan varchar(8) NOT NULL,
  threads integer NOT NULL,
  state varchar(8) NOT NULL,
  running integer NOT NULL,
  claimed bigint NOT NULL,
  done bigint NOT NULL,
  failed bigint NOT NULL,
  started_at bigint NOT NULL,
  seen_at bigint NOT NULL,
  CONSTRAINT tp_worker_pk PRIMARY KEY (id)
);

-- Handlers whose tasks are not to be claimed.
CREATE TABLE IF NOT EXISTS tp_pause (
  handler varchar(64) NOT NULL,
  who varchar(128),
  reason varchar(512),
  created_at bigint NOT NULL,
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
CREATE INDEX IF NOT EXISTS tp_pending_key ON tp_pending (biz_key) WHERE biz_key IS NOT NULL;
CREATE INDEX IF NOT EXISTS tp_finished_key ON tp_finished (biz_key) WHERE biz_key IS NOT NULL;
CREATE INDEX IF NOT EXISTS tp_failed_key ON tp_failed (biz_key) WHERE biz_key IS NOT NULL;
-- All tasks have a handler, but only who names one is led through this index: where old snapshots keep dead rows, the planner takes
-- a pool for empty, and any index with an id in it for as good as the primary key.
CREATE INDEX IF NOT EXISTS tp_pending_lane ON tp_pending (handler, priority, due_at, id) WHERE handler IS NOT NULL;
DROP INDEX IF EXISTS tp_pending_due;
DROP INDEX IF EXISTS tp_pending_own;
DROP INDEX IF EXISTS tp_pending_biz;
DROP INDEX IF EXISTS tp_finished_biz;
DROP INDEX IF EXISTS tp_failed_biz;

-- A partitioned pool has its own, which must hold the column of the partition.
DO $$ BEGIN CREATE UNIQUE INDEX IF NOT EXISTS tp_pending_one ON tp_pending (dedup_key) WHERE dedup_key IS NOT NULL; DROP INDEX IF EXISTS tp_pending_dup; EXCEPTION
  WHEN feature_not_supported THEN NULL; END $$;

-- The view of version 1, but a time beyond the years 1 to 9999 is absent instead of an error for all.
CREATE OR REPLACE VIEW tp_tasks AS
SELECT id, 'pending' AS pool, CASE WHEN state = 'failed' THEN 'failed-' || failures ELSE state END AS state,
       handler, biz_key, dedup_key, params, shard, priority, failures, max_failures, reason, owner,
       CASE WHEN due_at BETWEEN -62135596800000 AND 253402300799999 THEN to_timestamp(due_at / 1000.0) AT TIME ZONE 'UTC' END AS due,
       CASE WHEN created_at BETWEEN -62135596800000 AND 253402300799999 THEN to_timestamp(created_at / 1000.0) AT TIME ZONE 'UTC' END AS created,
       CASE WHEN modified_at BETWEEN -62135596800000 AND 253402300799999 THEN to_timestamp(modified_at / 1000.0) AT TIME ZONE 'UTC' END AS modified,
       CAST(NULL AS timestamp) AS settled
FROM tp_pending
UNION ALL
SELECT id, 'finished' AS pool, CASE WHEN state = 'failed' THEN 'failed-' || failures ELSE state END AS state,
       handler, biz_key, dedup_key, params, shard, priority, failures, max_failures, reason, owner,
       CASE WHEN due_at BETWEEN -62135596800000 AND 253402300799999 THEN to_timestamp(due_at / 1000.0) AT TIME ZONE 'UTC' END AS due,
       CASE WHEN created_at BETWEEN -62135596800000 AND 253402300799999 THEN to_timestamp(created_at / 1000.0) AT TIME ZONE 'UTC' END AS created,
       CASE WHEN modified_at BETWEEN -62135596800000 AND 253402300799999 THEN to_timestamp(modified_at / 1000.0) AT TIME ZONE 'UTC' END AS modified,
       CASE WHEN settled_at BETWEEN -62135596800000 AND 253402300799999 THEN to_timestamp(settled_at / 1000.0) AT TIME ZONE 'UTC' END AS settled
FROM tp_finished
UNION ALL
SELECT id, 'failed' AS pool, CASE WHEN state = 'failed' THEN 'failed-' || failures ELSE state END AS state,
       handler, biz_key, dedup_key, params, shard, priority, failures, max_failures, reason, owner,
       CASE WHEN due_at BETWEEN -62135596800000 AND 253402300799999 THEN to_timestamp(due_at / 1000.0) AT TIME ZONE 'UTC' END AS due,
       CASE WHEN created_at BETWEEN -62135596800000 AND 253402300799999 THEN to_timestamp(created_at / 1000.0) AT TIME ZONE 'UTC' END AS created,
       CASE WHEN modified_at BETWEEN -62135596800000 AND 253402300799999 THEN to_timestamp(modified_at / 1000.0) AT TIME ZONE 'UTC' END AS modified,
       CASE WHEN settled_at BETWEEN -62135596800000 AND 253402300799999 THEN to_timestamp(settled_at / 1000.0) AT TIME ZONE 'UTC' END AS settled
FROM tp_failed;

UPDATE tp_meta SET value = '2' WHERE name = 'schema' AND value = '1';

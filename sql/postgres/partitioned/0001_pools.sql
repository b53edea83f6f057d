-- taskpool schema, version 1, for PostgreSQL 13 and later, with pending partitioned by handler and finished by month.
-- Instead of schema/0001_pools.sql; version 2 comes as usual: 0002_services.sql, or taskpool schema install.
-- psql -v ON_ERROR_STOP=1 -f 0001_pools.sql
-- Safe to run again; drops nothing. For another prefix replace tp_ throughout. What it costs: docs/partitions.md.

-- What is installed here.
CREATE TABLE IF NOT EXISTS tp_meta (
  name varchar(30) NOT NULL,
  value varchar(200) NOT NULL,
  CONSTRAINT tp_meta_pk PRIMARY KEY (name)
);

-- The hot pool: what is to be done or being done. due_at says when a row may next be looked at: its time, its next
-- retry or, while handling, when the lease lapses.
CREATE TABLE IF NOT EXISTS tp_pending (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  handler varchar(64) NOT NULL,
  biz_key varchar(128),
  dedup_key varchar(128),
  params text,
  shard integer NOT NULL DEFAULT 0,
  priority smallint NOT NULL DEFAULT 0,
  state varchar(8) NOT NULL DEFAULT 'pending',
  failures integer NOT NULL DEFAULT 0,
  max_failures integer,
  reason varchar(512),
  owner uuid,
  due_at bigint NOT NULL DEFAULT CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint),
  created_at bigint NOT NULL DEFAULT CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint),
  modified_at bigint NOT NULL DEFAULT CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint),
  CONSTRAINT tp_pending_pk PRIMARY KEY (id, handler),
  CONSTRAINT tp_pending_state CHECK (state IN ('pending', 'handling', 'failed'))
) PARTITION BY LIST (handler);

-- Handlers without a partition of their own.
CREATE TABLE IF NOT EXISTS tp_pending_others PARTITION OF tp_pending DEFAULT;

-- Done and skipped.
CREATE TABLE IF NOT EXISTS tp_finished (
  id uuid NOT NULL,
  handler varchar(64) NOT NULL,
  biz_key varchar(128),
  dedup_key varchar(128),
  params text,
  shard integer NOT NULL,
  priority smallint NOT NULL,
  state varchar(8) NOT NULL,
  failures integer NOT NULL,
  max_failures integer,
  reason varchar(512),
  owner uuid,
  due_at bigint NOT NULL,
  created_at bigint NOT NULL,
  modified_at bigint NOT NULL,
  settled_at bigint NOT NULL,
  CONSTRAINT tp_finished_pk PRIMARY KEY (id, settled_at),
  CONSTRAINT tp_finished_state CHECK (state IN ('done', 'skipped'))
) PARTITION BY RANGE (settled_at);

-- Months without a partition of their own; add_month.sql makes those.
CREATE TABLE IF NOT EXISTS tp_finished_others PARTITION OF tp_finished DEFAULT;

-- Out of retries; needs a person.
CREATE TABLE IF NOT EXISTS tp_failed (
  id uuid NOT NULL,
  handler varchar(64) NOT NULL,
  biz_key varchar(128),
  dedup_key varchar(128),
  params text,
  shard integer NOT NULL,
  priority smallint NOT NULL,
  state varchar(8) NOT NULL,
  failures integer NOT NULL,
  max_failures integer,
  reason varchar(512),
  owner uuid,
  due_at bigint NOT NULL,
  created_at bigint NOT NULL,
  modified_at bigint NOT NULL,
  settled_at bigint NOT NULL,
  CONSTRAINT tp_failed_pk PRIMARY KEY (id),
  CONSTRAINT tp_failed_state CHECK (state IN ('failed'))
);

-- due: what a claim reads. own: what a token holds. one: at most one open task per dedup_key and handler.
CREATE INDEX IF NOT EXISTS tp_pending_due ON tp_pending (handler, priority, due_at, id);
CREATE INDEX IF NOT EXISTS tp_pending_own ON tp_pending (owner);
CREATE INDEX IF NOT EXISTS tp_pending_biz ON tp_pending (biz_key);
CREATE UNIQUE INDEX IF NOT EXISTS tp_pending_one ON tp_pending (dedup_key, handler) WHERE dedup_key IS NOT NULL;
CREATE INDEX IF NOT EXISTS tp_finished_biz ON tp_finished (biz_key);
CREATE INDEX IF NOT EXISTS tp_failed_biz ON tp_failed (biz_key);

-- All pools together, for people; times are UTC.
CREATE OR REPLACE VIEW tp_tasks AS
SELECT id, 'pending' AS pool, CASE WHEN state = 'failed' THEN 'failed-' || failures ELSE state END AS state,
       handler, biz_key, dedup_key, params, shard, priority, failures, max_failures, reason, owner,
       to_timestamp(due_at / 1000.0) AT TIME ZONE 'UTC' AS due, to_timestamp(created_at / 1000.0) AT TIME ZONE 'UTC' AS created,
       to_timestamp(modified_at / 1000.0) AT TIME ZONE 'UTC' AS modified, CAST(NULL AS timestamp) AS settled
FROM tp_pending
UNION ALL
SELECT id, 'finished' AS pool, CASE WHEN state = 'failed' THEN 'failed-' || failures ELSE state END AS state,
       handler, biz_key, dedup_key, params, shard, priority, failures, max_failures, reason, owner,
       to_timestamp(due_at / 1000.0) AT TIME ZONE 'UTC' AS due, to_timestamp(created_at / 1000.0) AT TIME ZONE 'UTC' AS created,
       to_timestamp(modified_at / 1000.0) AT TIME ZONE 'UTC' AS modified, to_timestamp(settled_at / 1000.0) AT TIME ZONE 'UTC' AS settled
FROM tp_finished
UNION ALL
SELECT id, 'failed' AS pool, CASE WHEN state = 'failed' THEN 'failed-' || failures ELSE state END AS state,
       handler, biz_key, dedup_key, params, shard, priority, failures, max_failures, reason, owner,
       to_timestamp(due_at / 1000.0) AT TIME ZONE 'UTC' AS due, to_timestamp(created_at / 1000.0) AT TIME ZONE 'UTC' AS created,
       to_timestamp(modified_at / 1000.0) AT TIME ZONE 'UTC' AS modified, to_timestamp(settled_at / 1000.0) AT TIME ZONE 'UTC' AS settled
FROM tp_failed;

INSERT INTO tp_meta (name, value) VALUES ('schema', '1') ON CONFLICT DO NOTHING;

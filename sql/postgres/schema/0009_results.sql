-- taskpool schema, version 9, the part of results, for PostgreSQL 12 and later.
-- psql -v ON_ERROR_STOP=1 -1 -f 0009_results.sql   or: taskpool schema install. After version 8; the other parts of version 9 are to follow.
-- Safe to run again; drops nothing. For another prefix replace tp_ throughout.

-- How far runs of handlers are (docs/results.md), each written and removed in transactions of its own. owner: the claim that runs; of one
-- that is over a row may be left, which workers remove. percent: -1 when only a message was given.
CREATE TABLE IF NOT EXISTS tp_progress (
  task_id uuid NOT NULL,
  owner uuid NOT NULL,
  percent smallint NOT NULL,
  message varchar(512),
  modified_at bigint NOT NULL,
  CONSTRAINT tp_progress_pk PRIMARY KEY (task_id, owner)
);

-- A change of a table waits for the transactions that use it, and all that come after wait behind it: rather than hold up workers for long
-- it fails, and is run again. The column has no default, so no row is written.
SET LOCAL lock_timeout = '5s';

-- What a task that is done gave back; absent from nearly all.
ALTER TABLE tp_finished ADD COLUMN IF NOT EXISTS result text;

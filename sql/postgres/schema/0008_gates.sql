-- taskpool schema, version 8, its first part, for PostgreSQL 12 and later.
-- psql -v ON_ERROR_STOP=1 -1 -f 0008_gates.sql   or: taskpool schema install. After version 7; 0008_steps.sql is to follow.
-- Safe to run again; drops nothing. For another prefix replace tp_ throughout.

-- Gates (docs/gates.md). width: how many tasks are let through at a time. on_failure: block, while a task that failed for good stays in the
-- failed pool its place is taken; pass: the next comes. name: = and the key, of an order key; = alone says how those are made. next_place:
-- grows with each change, all of which lock this row. let_through: how many of tp_gate_task have passed.
CREATE TABLE IF NOT EXISTS tp_gate (
  name varchar(129) NOT NULL,
  width integer NOT NULL,
  on_failure varchar(8) NOT NULL,
  next_place bigint NOT NULL,
  let_through integer NOT NULL,
  changed_by varchar(128),
  created_at bigint NOT NULL,
  modified_at bigint NOT NULL,
  CONSTRAINT tp_gate_pk PRIMARY KEY (name),
  CONSTRAINT tp_gate_failure CHECK (on_failure IN ('block', 'pass'))
);

-- The tasks behind each gate, in the order in which their enqueues committed. passed: 1 from when the gate let it through until it ends.
CREATE TABLE IF NOT EXISTS tp_gate_task (
  task_id uuid NOT NULL,
  gate varchar(129) NOT NULL,
  place bigint NOT NULL,
  passed smallint NOT NULL,
  CONSTRAINT tp_gate_task_pk PRIMARY KEY (task_id)
);
CREATE INDEX IF NOT EXISTS tp_gate_task_next ON tp_gate_task (passed, gate, place);

-- A change of a table waits for the transactions that use it, and all that come after wait behind it: rather than hold up workers for long
-- it fails, and is run again. The columns have no default, so no row is written.
SET LOCAL lock_timeout = '5s';

-- The gate that a task is behind; absent from nearly all. One that waits is due at the end of time, and wanted_at says when it wants to be.
-- Libraries that know version 2 only go on working: the maintenance of a newer worker lets through what they leave behind a gate.
ALTER TABLE tp_pending ADD COLUMN IF NOT EXISTS gate varchar(129);
ALTER TABLE tp_finished ADD COLUMN IF NOT EXISTS gate varchar(129);
ALTER TABLE tp_failed ADD COLUMN IF NOT EXISTS gate varchar(129);

-- How gates of order keys are made.
INSERT INTO tp_gate (name, width, on_failure, next_place, let_through, created_at, modified_at) VALUES ('=', 1, 'block', 0, 0, 0, 0) ON CONFLICT DO NOTHING;

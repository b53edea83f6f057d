-- taskpool schema, version 8, its first part, for SQLite 3.38 and later.
-- sqlite3 -bail -cmd '.timeout 10000' FILE < 0008_gates.sql   or: taskpool schema install. After version 7; 0008_steps.sql is to follow.
-- Drops nothing; where columns are there already it stops: taskpool schema install goes on, also with one that broke off. For another prefix replace tp_ throughout.

-- Gates (docs/gates.md). width: how many tasks are let through at a time. on_failure: block, while a task that failed for good stays in the
-- failed pool its place is taken; pass: the next comes. name: = and the key, of an order key; = alone says how those are made. next_place:
-- grows with each change, all of which lock this row. let_through: how many of tp_gate_task have passed.
CREATE TABLE IF NOT EXISTS tp_gate (
  name VARCHAR(129) NOT NULL,
  width INTEGER NOT NULL,
  on_failure VARCHAR(8) NOT NULL,
  next_place BIGINT NOT NULL,
  let_through INTEGER NOT NULL,
  changed_by VARCHAR(128),
  created_at BIGINT NOT NULL,
  modified_at BIGINT NOT NULL,
  CONSTRAINT tp_gate_pk PRIMARY KEY (name),
  CONSTRAINT tp_gate_failure CHECK (on_failure IN ('block', 'pass'))
);

-- The tasks behind each gate, in the order in which their enqueues committed. passed: 1 from when the gate let it through until it ends.
CREATE TABLE IF NOT EXISTS tp_gate_task (
  task_id CHAR(36) NOT NULL,
  gate VARCHAR(129) NOT NULL,
  place BIGINT NOT NULL,
  passed SMALLINT NOT NULL,
  CONSTRAINT tp_gate_task_pk PRIMARY KEY (task_id)
);
CREATE INDEX IF NOT EXISTS tp_gate_task_next ON tp_gate_task (passed, gate, place);

-- The gate that a task is behind; absent from nearly all. One that waits is due at the end of time, and wanted_at says when it wants to be.
-- Libraries that know version 2 only go on working: the maintenance of a newer worker lets through what they leave behind a gate.
ALTER TABLE tp_pending ADD COLUMN gate VARCHAR(129);
ALTER TABLE tp_finished ADD COLUMN gate VARCHAR(129);
ALTER TABLE tp_failed ADD COLUMN gate VARCHAR(129);

-- How gates of order keys are made.
INSERT INTO tp_gate (name, width, on_failure, next_place, let_through, created_at, modified_at) VALUES ('=', 1, 'block', 0, 0, 0, 0) ON CONFLICT DO NOTHING;

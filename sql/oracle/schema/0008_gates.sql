-- taskpool schema, version 8, its first part, for Oracle Database 11.2 and later.
-- sqlplus USER @0008_gates.sql   or: taskpool schema install. After version 7; 0008_steps.sql is to follow.
-- Drops nothing. For another prefix replace tp_ throughout.

-- Gates (docs/gates.md). width: how many tasks are let through at a time. on_failure: block, while a task that failed for good stays in the
-- failed pool its place is taken; pass: the next comes. name: = and the key, of an order key; = alone says how those are made. next_place:
-- grows with each change, all of which lock this row. let_through: how many of tp_gate_task have passed.
CREATE TABLE tp_gate (
  name VARCHAR2(129) NOT NULL,
  width NUMBER(10) NOT NULL,
  on_failure VARCHAR2(8) NOT NULL,
  next_place NUMBER(19) NOT NULL,
  let_through NUMBER(10) NOT NULL,
  changed_by VARCHAR2(128),
  created_at NUMBER(19) NOT NULL,
  modified_at NUMBER(19) NOT NULL,
  CONSTRAINT tp_gate_pk PRIMARY KEY (name),
  CONSTRAINT tp_gate_failure CHECK (on_failure IN ('block', 'pass'))
);

-- The tasks behind each gate, in the order in which their enqueues committed. passed: 1 from when the gate let it through until it ends.
CREATE TABLE tp_gate_task (
  task_id VARCHAR2(36) NOT NULL,
  gate VARCHAR2(129) NOT NULL,
  place NUMBER(19) NOT NULL,
  passed NUMBER(5) NOT NULL,
  CONSTRAINT tp_gate_task_pk PRIMARY KEY (task_id)
);
CREATE INDEX tp_gate_task_next ON tp_gate_task (passed, gate, place);

-- The gate that a task is behind; absent from nearly all. One that waits is due at the end of time, and wanted_at says when it wants to be.
-- Libraries that know version 2 only go on working: the maintenance of a newer worker lets through what they leave behind a gate.
ALTER TABLE tp_pending ADD (gate VARCHAR2(129));
ALTER TABLE tp_finished ADD (gate VARCHAR2(129));
ALTER TABLE tp_failed ADD (gate VARCHAR2(129));

-- How gates of order keys are made.
INSERT INTO tp_gate (name, width, on_failure, next_place, let_through, created_at, modified_at) VALUES ('=', 1, 'block', 0, 0, 0, 0);

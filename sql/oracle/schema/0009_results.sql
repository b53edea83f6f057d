-- taskpool schema, version 9, the part of results, for Oracle Database 11.2 and later.
-- sqlplus USER @0009_results.sql   or: taskpool schema install. After version 8; the other parts of version 9 are to follow.
-- Drops nothing. For another prefix replace tp_ throughout.

-- How far runs of handlers are (docs/results.md), each written and removed in transactions of its own. owner: the claim that runs; of one
-- that is over a row may be left, which workers remove. percent: -1 when only a message was given.
CREATE TABLE tp_progress (
  task_id VARCHAR2(36) NOT NULL,
  owner VARCHAR2(36) NOT NULL,
  percent NUMBER(5) NOT NULL,
  message VARCHAR2(512),
  modified_at NUMBER(19) NOT NULL,
  CONSTRAINT tp_progress_pk PRIMARY KEY (task_id, owner)
);

-- What a task that is done gave back; absent from nearly all.
ALTER TABLE tp_finished ADD (result CLOB);

-- taskpool schema, version 9, the part of results, for any database with standard SQL types. After version 8.
-- Drops nothing. For another prefix replace tp_ throughout.

-- How far runs of handlers are (docs/results.md), each written and removed in transactions of its own. owner: the claim that runs; of one
-- that is over a row may be left, which workers remove. percent: -1 when only a message was given.
CREATE TABLE tp_progress (
  task_id CHAR(36) NOT NULL,
  owner CHAR(36) NOT NULL,
  percent SMALLINT NOT NULL,
  message VARCHAR(512),
  modified_at BIGINT NOT NULL,
  CONSTRAINT tp_progress_pk PRIMARY KEY (task_id, owner)
);

-- What a task that is done gave back; absent from nearly all.
ALTER TABLE tp_finished ADD result CLOB;

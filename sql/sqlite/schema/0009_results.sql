-- taskpool schema, version 9, the part of results, for SQLite 3.38 and later.
-- sqlite3 -bail -cmd '.timeout 10000' FILE < 0009_results.sql   or: taskpool schema install. After version 8; the other parts of version 9 are to follow.
-- Drops nothing; where columns are there already it stops: taskpool schema install goes on, also with one that broke off. For another prefix replace tp_ throughout.

-- How far runs of handlers are (docs/results.md), each written and removed in transactions of its own. owner: the claim that runs; of one
-- that is over a row may be left, which workers remove. percent: -1 when only a message was given.
CREATE TABLE IF NOT EXISTS tp_progress (
  task_id CHAR(36) NOT NULL,
  owner CHAR(36) NOT NULL,
  percent SMALLINT NOT NULL,
  message VARCHAR(512),
  modified_at BIGINT NOT NULL,
  CONSTRAINT tp_progress_pk PRIMARY KEY (task_id, owner)
);

-- What a task that is done gave back; absent from nearly all.
ALTER TABLE tp_finished ADD COLUMN result TEXT;

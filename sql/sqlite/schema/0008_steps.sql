-- taskpool schema, version 8, for SQLite 3.38 and later.
-- sqlite3 -bail -cmd '.timeout 10000' FILE < 0008_steps.sql   or: taskpool schema install. After version 7.
-- Safe to run again; drops nothing. For another prefix replace tp_ throughout.

-- The steps of handlers that are done, each written in the transaction of what it did, and removed with its task. owner: the
-- claim under which it was done. result: what it returned. task_created_at: when its task was put in, so that a task that is put in anew
-- under the id of one that is gone has none of its steps.
CREATE TABLE IF NOT EXISTS tp_step (
  task_id CHAR(36) NOT NULL,
  step VARCHAR(64) NOT NULL,
  task_created_at BIGINT NOT NULL,
  owner CHAR(36) NOT NULL,
  result TEXT,
  created_at BIGINT NOT NULL,
  CONSTRAINT tp_step_pk PRIMARY KEY (task_id, step, task_created_at)
);

-- Libraries that know version 2 only go on working.
UPDATE tp_meta SET value = '8' WHERE name = 'schema_latest' AND value = '7';

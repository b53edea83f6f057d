-- taskpool schema, version 9, its part about cancelling, for PostgreSQL 12 and later.
-- psql -v ON_ERROR_STOP=1 -1 -f 0009_cancel.sql   or: taskpool schema install. After version 8; 0009_version.sql is to follow.
-- Safe to run again; drops nothing. For another prefix replace tp_ throughout.

-- Tasks that are not wanted any more (docs/cancel.md), from due_at on: a deadline; or, due at once, somebody asked for their end: who, and
-- why as the reason. A row is about the task that was there at created_at, and not about a later one of the same id.
CREATE TABLE IF NOT EXISTS tp_cancel (
  task_id uuid NOT NULL,
  due_at bigint NOT NULL,
  who varchar(128),
  reason varchar(512),
  created_at bigint NOT NULL,
  CONSTRAINT tp_cancel_pk PRIMARY KEY (task_id)
);
CREATE INDEX IF NOT EXISTS tp_cancel_due ON tp_cancel (due_at, task_id);

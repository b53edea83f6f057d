-- taskpool schema, version 9, its part about cancelling, for SQLite 3.38 and later.
-- sqlite3 -bail -cmd '.timeout 10000' FILE < 0009_cancel.sql   or: taskpool schema install. After version 8; 0009_version.sql is to follow.
-- Safe to run again; drops nothing. For another prefix replace tp_ throughout.

-- Tasks that are not wanted any more (docs/cancel.md), from due_at on: a deadline; or, due at once, somebody asked for their end: who, and
-- why as the reason. A row is about the task that was there at created_at, and not about a later one of the same id.
CREATE TABLE IF NOT EXISTS tp_cancel (
  task_id CHAR(36) NOT NULL,
  due_at BIGINT NOT NULL,
  who VARCHAR(128),
  reason VARCHAR(512),
  created_at BIGINT NOT NULL,
  CONSTRAINT tp_cancel_pk PRIMARY KEY (task_id)
);
CREATE INDEX IF NOT EXISTS tp_cancel_due ON tp_cancel (due_at, task_id);

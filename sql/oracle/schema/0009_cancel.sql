-- taskpool schema, version 9, its part about cancelling, for Oracle Database 11.2 and later.
-- sqlplus USER @0009_cancel.sql   or: taskpool schema install. After version 8; 0009_version.sql is to follow.
-- Drops nothing. For another prefix replace tp_ throughout.

-- Tasks that are not wanted any more (docs/cancel.md), from due_at on: a deadline; or, due at once, somebody asked for their end: who, and
-- why as the reason. A row is about the task that was there at created_at, and not about a later one of the same id.
CREATE TABLE tp_cancel (
  task_id VARCHAR2(36) NOT NULL,
  due_at NUMBER(19) NOT NULL,
  who VARCHAR2(128),
  reason VARCHAR2(512),
  created_at NUMBER(19) NOT NULL,
  CONSTRAINT tp_cancel_pk PRIMARY KEY (task_id)
);
CREATE INDEX tp_cancel_due ON tp_cancel (due_at, task_id);

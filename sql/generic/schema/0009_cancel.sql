-- taskpool schema, version 9, its part about cancelling, for any database with standard SQL types. After version 8.
-- Drops nothing. For another prefix replace tp_ throughout.

-- Tasks that are not wanted any more (docs/cancel.md), from due_at on: a deadline; or, due at once, somebody asked for their end: who, and
-- why as the reason. A row is about the task that was there at created_at, and not about a later one of the same id.
CREATE TABLE tp_cancel (
  task_id CHAR(36) NOT NULL,
  due_at BIGINT NOT NULL,
  who VARCHAR(128),
  reason VARCHAR(512),
  created_at BIGINT NOT NULL,
  CONSTRAINT tp_cancel_pk PRIMARY KEY (task_id)
);
CREATE INDEX tp_cancel_due ON tp_cancel (due_at, task_id);

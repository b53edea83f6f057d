-- taskpool schema, version 9, groups, for PostgreSQL 12 and later.
-- psql -v ON_ERROR_STOP=1 -1 -f 0009_groups.sql   or: taskpool schema install. After version 8; 0009_version.sql is to follow.
-- Safe to run again; drops nothing. For another prefix replace tp_ throughout.

-- Groups of tasks (docs/groups.md). state: open, tasks come in; closed, none do any more; opening, it has ended, and not all that waited
-- for that are due yet; over. rule: done, a task in the failed pool holds up the end; ended, it does not. Who puts a task in locks this
-- row, shared where the database can, and who closes or ends the group alone. All but over
-- sort before over. seen_id: of its tasks with smaller ids none was open.
CREATE TABLE IF NOT EXISTS tp_group (
  name varchar(128) NOT NULL,
  state varchar(8) NOT NULL,
  rule varchar(8) NOT NULL,
  parent varchar(128),
  cancelled smallint NOT NULL,
  seen_id uuid NOT NULL,
  created_at bigint NOT NULL,
  modified_at bigint NOT NULL,
  closed_at bigint,
  ended_at bigint,
  CONSTRAINT tp_group_pk PRIMARY KEY (name),
  CONSTRAINT tp_group_states CHECK (state IN ('open', 'closed', 'opening', 'over')),
  CONSTRAINT tp_group_rules CHECK (rule IN ('done', 'ended'))
);
CREATE INDEX IF NOT EXISTS tp_group_state ON tp_group (state, ended_at);
CREATE INDEX IF NOT EXISTS tp_group_parent ON tp_group (parent);

-- waits 0: a task of the group, whatever became of it since. 1: one that waits for the group's end, which is not due until then. 2: one that
-- waited. Settles do not write here.
CREATE TABLE IF NOT EXISTS tp_group_task (
  group_name varchar(128) NOT NULL,
  waits smallint NOT NULL,
  task_id uuid NOT NULL,
  CONSTRAINT tp_group_task_pk PRIMARY KEY (group_name, waits, task_id)
);

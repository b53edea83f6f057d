-- taskpool schema, version 9, groups, for Oracle Database 11.2 and later.
-- sqlplus USER @0009_groups.sql   or: taskpool schema install. After version 8; 0009_version.sql is to follow.
-- Drops nothing. For another prefix replace tp_ throughout.

-- Groups of tasks (docs/groups.md). state: open, tasks come in; closed, none do any more; opening, it has ended, and not all that waited
-- for that are due yet; over. rule: done, a task in the failed pool holds up the end; ended, it does not. Who puts a task in locks this
-- row, shared where the database can, and who closes or ends the group alone. All but over
-- sort before over. seen_id: of its tasks with smaller ids none was open.
CREATE TABLE tp_group (
  name VARCHAR2(128) NOT NULL,
  state VARCHAR2(8) NOT NULL,
  rule VARCHAR2(8) NOT NULL,
  parent VARCHAR2(128),
  cancelled NUMBER(5) NOT NULL,
  seen_id VARCHAR2(36) NOT NULL,
  created_at NUMBER(19) NOT NULL,
  modified_at NUMBER(19) NOT NULL,
  closed_at NUMBER(19),
  ended_at NUMBER(19),
  CONSTRAINT tp_group_pk PRIMARY KEY (name),
  CONSTRAINT tp_group_states CHECK (state IN ('open', 'closed', 'opening', 'over')),
  CONSTRAINT tp_group_rules CHECK (rule IN ('done', 'ended'))
);
CREATE INDEX tp_group_state ON tp_group (state, ended_at);
CREATE INDEX tp_group_parent ON tp_group (parent);

-- waits 0: a task of the group, whatever became of it since. 1: one that waits for the group's end, which is not due until then. 2: one that
-- waited. Settles do not write here.
CREATE TABLE tp_group_task (
  group_name VARCHAR2(128) NOT NULL,
  waits NUMBER(5) NOT NULL,
  task_id VARCHAR2(36) NOT NULL,
  CONSTRAINT tp_group_task_pk PRIMARY KEY (group_name, waits, task_id)
);

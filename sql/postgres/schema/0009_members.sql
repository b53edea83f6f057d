-- taskpool schema, version 9, a part of it, for PostgreSQL 12 and later.
-- psql -v ON_ERROR_STOP=1 -1 -f 0009_members.sql   or: taskpool schema install. After 0009_groups.sql; 0009_version.sql is to follow.
-- Safe to run again; drops nothing. For another prefix replace tp_ throughout.

-- Which groups a task is in. Retention asks so about each failed task that is past its time: without the index it reads all that is in
-- tp_group_task, for each. It costs an enqueue into a group one more entry.
CREATE INDEX IF NOT EXISTS tp_group_member ON tp_group_task (task_id);

-- taskpool schema, version 9, a part of it, for any database with standard SQL types. After version 8 and 0009_groups.sql.
-- Drops nothing. For another prefix replace tp_ throughout.

-- Which groups a task is in. Retention asks so about each failed task that is past its time: without the index it reads all that is in
-- tp_group_task, for each. It costs an enqueue into a group one more entry.
CREATE INDEX tp_group_member ON tp_group_task (task_id);

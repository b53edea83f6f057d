-- taskpool schema, version 9, a part of it, for MySQL 8.0.13 and MariaDB 10.6 and later.
-- mariadb DATABASE < 0009_members.sql   or: taskpool schema install. After 0009_groups.sql; 0009_version.sql is to follow.
-- Safe to run again; drops nothing. For another prefix replace tp_ throughout.

-- Which groups a task is in. Retention asks so about each failed task that is past its time: without the index it reads all that is in
-- tp_group_task, for each. It costs an enqueue into a group one more entry.
/*!80000 SET @tp_index = (SELECT IF(COUNT(*) > 0, 'DO 0', 'CREATE INDEX tp_group_member ON tp_group_task (task_id)')
  FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = 'tp_group_task' AND index_name = 'tp_group_member') */;
/*!80000 PREPARE tp_index FROM @tp_index */;
/*!80000 EXECUTE tp_index */;
/*M! CREATE INDEX */ /*M!100600 IF NOT EXISTS */ /*M! tp_group_member ON tp_group_task (task_id) */;

-- Tasks whose priority or shard is no whole number, or no priority that a task may have. Some databases store any value in any column.
SELECT COUNT(*), MIN(id) FROM (
SELECT CAST(id AS CHAR(36)) AS id FROM tp_pending WHERE priority <> ROUND(priority, 0) OR priority < -32768 OR priority > 32767 OR shard <> ROUND(shard, 0)
UNION ALL
SELECT CAST(id AS CHAR(36)) AS id FROM tp_failed WHERE priority <> ROUND(priority, 0) OR priority < -32768 OR priority > 32767 OR shard <> ROUND(shard, 0)
) wrong

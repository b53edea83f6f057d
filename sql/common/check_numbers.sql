-- Tasks in the pending and the failed pool whose priority or shard is not a whole number, or whose priority is out of range: claims may not
-- see them. Some databases store any value in any column.
SELECT COUNT(*), MIN(id) FROM (
SELECT CAST(id AS CHAR(36)) AS id FROM tp_pending WHERE priority <> ROUND(priority, 0) OR priority < -32768 OR priority > 32767 OR shard <> ROUND(shard, 0)
UNION ALL
SELECT CAST(id AS CHAR(36)) AS id FROM tp_failed WHERE priority <> ROUND(priority, 0) OR priority < -32768 OR priority > 32767 OR shard <> ROUND(shard, 0)
) wrong

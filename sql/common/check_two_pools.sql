-- Tasks that are in more than one pool.
SELECT COUNT(*), MIN(id) FROM (
SELECT CAST(task.id AS CHAR(36)) AS id FROM tp_pending task WHERE EXISTS (SELECT 1 FROM tp_finished other WHERE other.id = task.id)
UNION ALL
SELECT CAST(task.id AS CHAR(36)) AS id FROM tp_failed task WHERE EXISTS (SELECT 1 FROM tp_finished other WHERE other.id = task.id)
UNION ALL
SELECT CAST(task.id AS CHAR(36)) AS id FROM tp_pending task WHERE EXISTS (SELECT 1 FROM tp_failed other WHERE other.id = task.id)
) twice

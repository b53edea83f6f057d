-- Is a task with this id in any pool, and may its content be read? Where the pending pool is partitioned, its key does not see one
-- of another handler.
SELECT id, 1 AS readable FROM tp_pending WHERE id = :id
UNION ALL
SELECT id, 1 AS readable FROM tp_finished WHERE id = :id
UNION ALL
SELECT id, 1 AS readable FROM tp_failed WHERE id = :id

-- Is a task with this id in any pool? Where the pending pool is partitioned, its key does not see one of another handler.
SELECT id FROM tp_pending WHERE id = :id
UNION ALL
SELECT id FROM tp_finished WHERE id = :id
UNION ALL
SELECT id FROM tp_failed WHERE id = :id

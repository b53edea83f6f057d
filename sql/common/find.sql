-- Is there a task with this id, in any pool?
SELECT id FROM tp_pending WHERE id = :id
UNION ALL
SELECT id FROM tp_finished WHERE id = :id
UNION ALL
SELECT id FROM tp_failed WHERE id = :id

-- Has the task with this id left the pending pool?
SELECT id FROM tp_finished WHERE id = :id
UNION ALL
SELECT id FROM tp_failed WHERE id = :id

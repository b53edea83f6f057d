-- Has the task with this id left the pending pool?
{committed SELECT id FROM tp_finished WHERE id = :id}
UNION ALL
{committed SELECT id FROM tp_failed WHERE id = :id}

-- As find_moved, by locking reads; see find_any_locking.
{committed SELECT id FROM tp_finished WHERE id = :id}
UNION ALL
{committed SELECT id FROM tp_failed WHERE id = :id}

-- As step_any, by a locking read; see find_any_locking.
{committed SELECT task_id FROM tp_step WHERE task_id = :id}

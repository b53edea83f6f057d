-- As duplicate_done, by a locking read; see find_any_locking.
{committed SELECT task_id, reason FROM tp_history WHERE id = :history_id}

-- The steps of a task that are done.
SELECT step, result, created_at FROM tp_step WHERE task_id = :id AND task_created_at = :created_at ORDER BY created_at, step

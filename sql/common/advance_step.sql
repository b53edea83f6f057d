-- For tests: the times of all steps, and those of their tasks in them, move into the past.
UPDATE tp_step SET task_created_at = task_created_at - :delay_ms, created_at = created_at - :delay_ms

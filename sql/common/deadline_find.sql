-- When this task is of no use any more; none: it has no deadline, or its end was asked for.
SELECT due_at FROM tp_cancel WHERE task_id = :id AND who IS NULL

-- What happened to one task, oldest first.
SELECT task_id, handler, event, owner, who, reason, attempt, created_at
FROM tp_history WHERE task_id = :id
ORDER BY created_at, id

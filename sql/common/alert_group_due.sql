-- Alerts that are due, the oldest first, and what the failed pool still knows of their tasks.
{first_n}
SELECT note.id, note.alert_at, note.task_id, note.handler, note.reason, note.attempt, note.created_at AS failed_at,
       task.biz_key, task.dedup_key, task.shard, task.priority, task.max_failures, task.created_at
FROM tp_history note LEFT JOIN tp_failed task ON task.id = note.task_id
WHERE note.alert_at <= :at AND note.handler IN (:handlers)
ORDER BY note.alert_at, note.id
{first_n_end}

-- The open tasks with this key: one or, where the pending pool is partitioned, one of each handler. And was the end of one asked for,
-- by a deadline or by a person?
SELECT task.id, task.handler, task.state, task.failures, task.due_at, task.modified_at, task.gate,
       CASE WHEN asked.task_id IS NULL THEN 0 ELSE 1 END AS asked,
       CASE WHEN asked.who IS NOT NULL AND asked.created_at >= task.created_at THEN 1 ELSE 0 END AS cancelled
FROM tp_pending task LEFT JOIN tp_cancel asked ON asked.task_id = task.id
WHERE task.dedup_key = :dedup_key

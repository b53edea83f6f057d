-- Which of these tasks are not wanted any more, and who said so.
SELECT asked.task_id, asked.who, asked.reason, asked.due_at
FROM tp_cancel asked {by_primary_key} JOIN tp_pending task ON task.id = asked.task_id AND task.created_at <= asked.created_at
WHERE {among_ids asked.task_id} AND asked.due_at <= {now}

-- Was the end of this task asked for, and is it open?
SELECT asked.who FROM tp_cancel asked JOIN tp_pending task ON task.id = asked.task_id AND task.created_at <= asked.created_at
WHERE asked.task_id = :id AND asked.who IS NOT NULL

-- Was the end of this task asked for, and is it open?
SELECT who FROM tp_cancel
WHERE task_id = :id AND who IS NOT NULL AND created_at >= (SELECT task.created_at FROM tp_pending task WHERE task.id = :id)

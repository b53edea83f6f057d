-- What was asked of tasks that have ended, of these.
DELETE FROM tp_cancel
WHERE {among_ids task_id} AND NOT EXISTS (SELECT 1 FROM tp_pending task
  WHERE task.id = tp_cancel.task_id AND task.created_at <= tp_cancel.created_at)

-- The same where a row is there that is the task's deadline, or about an earlier task of this id.
UPDATE tp_cancel SET due_at = 0, who = :who, reason = :reason,
       created_at = (SELECT CASE WHEN task.created_at > :at THEN task.created_at ELSE :at END FROM tp_pending task WHERE task.id = :id)
WHERE task_id = :id AND (who IS NULL OR created_at < (SELECT task.created_at FROM tp_pending task WHERE task.id = :id))
  AND EXISTS (SELECT 1 FROM tp_pending task WHERE task.id = :id)

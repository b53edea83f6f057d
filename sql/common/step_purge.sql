-- Deletes the steps of a task that is in no pool any more.
DELETE FROM tp_step
WHERE task_id = :id
  AND NOT EXISTS (SELECT 1 FROM tp_pending WHERE id = :id)
  AND NOT EXISTS (SELECT 1 FROM tp_finished WHERE id = :id)
  AND NOT EXISTS (SELECT 1 FROM tp_failed WHERE id = :id)

-- Deletes the steps of those of the given tasks that are in no pool any more.
DELETE FROM tp_step
WHERE task_id IN (:ids)
  AND NOT EXISTS (SELECT 1 FROM tp_pending task WHERE task.id = tp_step.task_id)
  AND NOT EXISTS (SELECT 1 FROM tp_finished task WHERE task.id = tp_step.task_id)
  AND NOT EXISTS (SELECT 1 FROM tp_failed task WHERE task.id = tp_step.task_id)

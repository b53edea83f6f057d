-- What runs left that were killed: nothing was written for long, and the claim holds no task.
DELETE FROM tp_progress
WHERE modified_at < :before
  AND NOT EXISTS (SELECT 1 FROM tp_pending task WHERE task.id = tp_progress.task_id AND {not_by_index task.owner = tp_progress.owner})

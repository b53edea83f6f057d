-- Deletes what happened to these tasks.
DELETE FROM tp_history WHERE task_id IN (:ids)

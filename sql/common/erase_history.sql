-- Deletes what happened to these tasks.
DELETE FROM tp_history WHERE {among_ids task_id}

-- Of tasks that leave.
DELETE FROM tp_progress WHERE {among_ids task_id}

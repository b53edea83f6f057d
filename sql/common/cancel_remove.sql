-- What was asked of a task that has ended.
DELETE FROM tp_cancel WHERE task_id = :id

-- The run of this claim is over.
DELETE FROM tp_progress WHERE task_id = :id AND owner = :token

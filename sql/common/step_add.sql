-- A step that is done, of a task that this transaction has locked.
INSERT INTO tp_step (task_id, step, task_created_at, owner, result, created_at)
VALUES (:id, :step, (SELECT created_at FROM tp_pending WHERE id = :id), :token, :result, {value_now})

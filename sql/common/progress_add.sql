-- The same, the first time.
INSERT INTO tp_progress (task_id, owner, percent, message, modified_at)
VALUES (:id, :token, :percent, :message, {value_now})

-- Differs because the database's clock is read in the statement itself. What is there already is passed over: an error
-- would spoil the caller's transaction.
INSERT INTO tp_once (once_key, handler, task_id, owner, created_at)
VALUES (:once_key, :handler, :id, :token, {now})
ON CONFLICT DO NOTHING

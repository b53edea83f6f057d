-- Differs because the database's clock is read in the statement itself, by the function tp_now.
INSERT INTO tp_once (once_key, handler, task_id, owner, created_at)
VALUES (:once_key, :handler, :id, :token, tp_now())

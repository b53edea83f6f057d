-- Differs because the database's clock is read in the statement itself. What is there already is passed over.
INSERT INTO tp_once (once_key, handler, task_id, owner, created_at)
VALUES (:once_key, :handler, :id, :token, CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER))
ON CONFLICT DO NOTHING

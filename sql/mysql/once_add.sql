-- Differs because the database's clock is read in the statement itself.
INSERT INTO tp_once (once_key, handler, task_id, owner, created_at)
VALUES (:once_key, :handler, :id, :token, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000)

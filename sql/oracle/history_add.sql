-- Differs because the database's clock is read in the statement itself, by the function tp_now.
INSERT INTO tp_history (id, task_id, handler, event, attempt, owner, who, reason, created_at, alert_at)
VALUES (:history_id, :id, :handler, :event, :attempt, :token, :who, :reason,
        tp_now(),
        tp_now() + CAST(:alert_ms AS DECIMAL(19)))

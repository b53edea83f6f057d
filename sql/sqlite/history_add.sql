-- Differs because the database's clock is read in the statement itself.
INSERT INTO tp_history (id, task_id, handler, event, attempt, owner, who, reason, created_at, alert_at)
VALUES (:history_id, :id, :handler, :event, :attempt, :token, :who, :reason,
        CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER),
        CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER) + :alert_ms)

-- Differs because the database's clock is read in the statement itself.
INSERT INTO tp_history (id, task_id, handler, event, attempt, owner, who, reason, created_at, alert_at)
VALUES (:history_id, :id, :handler, :event, :attempt, :token, :who, :reason,
        TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000,
        TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 + :alert_ms)

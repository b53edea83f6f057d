-- Differs because the database's clock is read in the statement itself.
INSERT INTO tp_history (id, task_id, handler, event, attempt, owner, who, reason, created_at, alert_at)
VALUES (:history_id, :id, :handler, :event, :attempt, :token, :who, :reason,
        CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint),
        CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint) + CAST(:alert_ms AS bigint))

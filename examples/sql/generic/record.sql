-- Optional: a failure in the history, in the transaction of retry.sql (:event failed) or fail.sql (gave-up). A worker of the library
-- tells its alert of what gave up only when this is there. :history_id is a new UUID.
-- The clock is the database's: :now is what SELECT CURRENT_TIMESTAMP gave, in milliseconds since 1970 UTC.
INSERT INTO tp_history (id, task_id, handler, event, attempt, owner, who, reason, created_at, alert_at)
SELECT :history_id, :id, :handler, :event, CAST(:attempt AS integer),
       :token, :who, :reason,
       CAST(:now AS DECIMAL(19, 0)),
       CASE WHEN :event = 'gave-up' THEN CAST(:now AS DECIMAL(19, 0)) END
FROM tp_meta WHERE name = 'schema';

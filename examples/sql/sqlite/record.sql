-- Optional: a failure in the history, in the transaction of retry.sql (:event failed) or fail.sql (gave-up). A worker of the library
-- tells its alert of what gave up only when this is there. :history_id is a new UUID.
INSERT INTO tp_history (id, task_id, handler, event, attempt, owner, who, reason, created_at, alert_at)
SELECT :history_id, :id, :handler, :event, :attempt,
       :token, :who, :reason,
       CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER),
       CASE WHEN :event = 'gave-up' THEN CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER) END
FROM tp_meta WHERE name = 'schema';

-- Optional: a failure in the history, in the transaction of retry.sql (:event failed) or fail.sql (gave-up). A worker of the library
-- tells its alert of what gave up only when this is there. :history_id is a new UUID.
INSERT INTO tp_history (id, task_id, handler, event, attempt, owner, who, reason, created_at, alert_at)
SELECT :history_id, :id, :handler, :event, :attempt,
       :token, :who, :reason,
       TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000,
       CASE WHEN :event = 'gave-up' THEN TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 END
FROM tp_meta WHERE name = 'schema';

-- Optional: a failure in the history, in the transaction of retry.sql (:event failed) or fail.sql (gave-up). A worker of the library
-- tells its alert of what gave up only when this is there. :history_id is a new UUID.
INSERT INTO tp_history (id, task_id, handler, event, attempt, owner, who, reason, created_at, alert_at)
SELECT :history_id, :id, :handler, :event, :attempt,
       :token, :who, :reason,
       (SELECT tp_now() FROM DUAL),
       CASE WHEN :event = 'gave-up' THEN (SELECT tp_now() FROM DUAL) END
FROM DUAL;

-- Optional: a failure in the history, in the transaction of retry.sql (:event failed) or fail.sql (gave-up). A worker of the library
-- tells its alert of what gave up only when this is there. :history_id is a new UUID.
INSERT INTO tp_history (id, task_id, handler, event, attempt, owner, who, reason, created_at, alert_at)
SELECT CAST(:history_id AS uuid), CAST(:id AS uuid), CAST(:handler AS varchar), CAST(:event AS varchar), CAST(:attempt AS integer),
       CAST(:token AS uuid), CAST(:who AS varchar), CAST(:reason AS varchar),
       CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint),
       CASE WHEN CAST(:event AS varchar) = 'gave-up' THEN CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint) END;

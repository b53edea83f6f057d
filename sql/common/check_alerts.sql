-- Alerts that were not delivered for long. before: the time up to which they count as late.
SELECT COUNT(*), MIN(CAST(task_id AS CHAR(36))) FROM tp_history
WHERE alert_at <= :before

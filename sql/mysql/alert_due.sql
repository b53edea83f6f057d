-- Differs because the database can end the page itself.
SELECT id, task_id, handler, reason, attempt, alert_at
FROM tp_history WHERE alert_at <= :at AND handler IN (:handlers)
ORDER BY alert_at, id
LIMIT :limit

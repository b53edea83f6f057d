-- Differs because the page ends by ROWNUM, counted after the order.
SELECT * FROM (
SELECT id, task_id, handler, reason, attempt, alert_at
FROM tp_history WHERE alert_at <= :at AND handler IN (:handlers)
ORDER BY alert_at, id
) WHERE ROWNUM <= :limit

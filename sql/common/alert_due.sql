-- Tasks that gave up and of which nobody was told in time; the library stops reading at its limit.
SELECT id, task_id, handler, reason, attempt, alert_at
FROM tp_history WHERE alert_at <= :at AND handler IN (:handlers)
ORDER BY alert_at, id

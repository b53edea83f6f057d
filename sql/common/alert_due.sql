-- Tasks that gave up and of which nobody was told in time.
{first_n}
SELECT id, task_id, handler, reason, attempt, alert_at
FROM tp_history WHERE alert_at <= :at AND handler IN (:handlers)
ORDER BY alert_at, id
{first_n_end}

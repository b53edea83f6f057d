-- Alerts that are due: of tasks that reached the failed pool, and that no worker delivered yet.
{first_n}
SELECT id, task_id, handler, reason, attempt, alert_at
FROM tp_history WHERE alert_at <= :at AND handler IN (:handlers)
ORDER BY alert_at, id
{first_n_end}

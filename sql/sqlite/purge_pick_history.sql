-- Differs because the database would take the index of alert_at, and sort all.
SELECT id FROM tp_history
WHERE {given_or_null handler} AND created_at <= :before AND COALESCE(alert_at, 0) = 0
ORDER BY created_at
{first_n_end}

-- Differs because the database can end the page itself, and would take the index of alert_at and sort all.
SELECT id FROM tp_history
WHERE COALESCE(handler, ' ') = COALESCE(:handler, handler, ' ') AND created_at <= :before AND COALESCE(alert_at, 0) = 0
ORDER BY created_at
LIMIT :limit

-- Differs because the database can end the page itself.
SELECT id FROM tp_history
WHERE COALESCE(handler, ' ') = COALESCE(:handler, handler, ' ') AND created_at <= :before AND alert_at IS NULL
ORDER BY created_at
LIMIT :limit

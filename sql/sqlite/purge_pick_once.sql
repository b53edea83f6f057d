-- Differs because the database can end the page itself.
SELECT once_key FROM tp_once
WHERE COALESCE(handler, ' ') = COALESCE(:handler, handler, ' ') AND created_at <= :before
ORDER BY created_at
LIMIT :limit

-- How many keys are selected.
SELECT COUNT(*) FROM tp_once
WHERE COALESCE(handler, ' ') = COALESCE(:handler, handler, ' ') AND created_at >= :since AND created_at <= :before

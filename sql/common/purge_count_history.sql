-- How many events are selected.
SELECT COUNT(*) FROM tp_history
WHERE COALESCE(handler, ' ') = COALESCE(:handler, handler, ' ') AND created_at >= :since AND created_at <= :before AND alert_at IS NULL

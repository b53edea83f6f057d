-- Differs because the page ends by ROWNUM, counted after the order.
SELECT * FROM (
SELECT id FROM tp_history
WHERE COALESCE(handler, ' ') = COALESCE(:handler, handler, ' ') AND created_at <= :before AND alert_at IS NULL
ORDER BY created_at
) WHERE ROWNUM <= :limit

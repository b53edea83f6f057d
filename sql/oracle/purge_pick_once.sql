-- Differs because the page ends by ROWNUM, counted after the order.
SELECT * FROM (
SELECT once_key FROM tp_once
WHERE COALESCE(handler, ' ') = COALESCE(:handler, handler, ' ') AND created_at <= :before
ORDER BY created_at
) WHERE ROWNUM <= :limit

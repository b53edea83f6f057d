-- Differs because the page ends by ROWNUM, counted after the order.
SELECT * FROM (
SELECT id FROM tp_failed
WHERE state = COALESCE(:state, state) AND handler = COALESCE(:handler, handler)
  AND COALESCE(reason, ' ') LIKE COALESCE(:part, '%') ESCAPE '!' AND settled_at <= :before
ORDER BY settled_at
) WHERE ROWNUM <= :limit

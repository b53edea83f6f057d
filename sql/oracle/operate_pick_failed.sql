-- Differs because the page ends by ROWNUM, counted after the order.
SELECT * FROM (
SELECT id, handler, owner FROM tp_failed
WHERE id > :after_id AND state = :state AND handler = COALESCE(:handler, handler)
  AND COALESCE(reason, ' ') LIKE COALESCE(:part, '%') ESCAPE '!' AND modified_at <= :before
ORDER BY id
) WHERE ROWNUM <= :limit

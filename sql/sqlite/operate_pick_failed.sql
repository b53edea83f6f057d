-- Differs because the database can end the page itself.
SELECT id, handler, owner FROM tp_failed
WHERE id > :after_id AND state = :state AND handler = COALESCE(:handler, handler)
  AND COALESCE(reason, ' ') LIKE COALESCE(:part, '%') ESCAPE '!' AND modified_at <= :before
ORDER BY id
LIMIT :limit

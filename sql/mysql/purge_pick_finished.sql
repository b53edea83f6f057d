-- Differs because the database can end the page itself.
SELECT id FROM tp_finished
WHERE state = COALESCE(:state, state) AND handler = COALESCE(:handler, handler)
  AND COALESCE(reason, ' ') LIKE COALESCE(:part, '%') ESCAPE '!' AND settled_at <= :before
ORDER BY settled_at
LIMIT :limit

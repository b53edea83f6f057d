-- Differs because the database can end the page itself, and takes a COALESCE for so selective that it would sort all.
SELECT id, handler, owner FROM tp_pending
WHERE id > :after_id
  AND state = :state
  AND (CAST(:handler AS varchar) IS NULL OR handler = CAST(:handler AS varchar))
  AND (CAST(:part AS varchar) IS NULL OR reason LIKE CAST(:part AS varchar) ESCAPE '!')
  AND modified_at <= :before
ORDER BY id
LIMIT CAST(:limit AS integer)

-- Differs because the database can end the page itself, and takes a COALESCE for so selective that it would sort all.
SELECT id FROM tp_failed
WHERE (CAST(:state AS varchar) IS NULL OR state = CAST(:state AS varchar))
  AND (CAST(:handler AS varchar) IS NULL OR handler = CAST(:handler AS varchar))
  AND (CAST(:part AS varchar) IS NULL OR reason LIKE CAST(:part AS varchar) ESCAPE '!')
  AND settled_at <= :before
ORDER BY settled_at
LIMIT CAST(:limit AS integer)

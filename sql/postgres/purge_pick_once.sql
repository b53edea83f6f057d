-- Differs because the database can end the page itself, and takes a COALESCE for so selective that it would sort all.
SELECT once_key FROM tp_once
WHERE (CAST(:handler AS varchar) IS NULL OR handler = CAST(:handler AS varchar))
  AND created_at <= :before
ORDER BY created_at
LIMIT CAST(:limit AS integer)

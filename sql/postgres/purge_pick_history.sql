-- Differs because the database can end the page itself, and takes a COALESCE for so selective that it would sort all.
SELECT id FROM tp_history
WHERE (CAST(:handler AS varchar) IS NULL OR handler = CAST(:handler AS varchar))
  AND created_at <= :before
  AND alert_at IS NULL
ORDER BY created_at
LIMIT CAST(:limit AS integer)

-- How many tasks of the {pool} pool are selected.
SELECT COUNT(*) FROM tp_{pool}
WHERE state = COALESCE(:state, state) AND handler = COALESCE(:handler, handler)
  AND COALESCE(reason, ' ') LIKE COALESCE(:part, '%') ESCAPE '!' AND settled_at <= :before

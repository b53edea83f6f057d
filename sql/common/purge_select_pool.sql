-- How many of the given tasks of the {pool} pool are selected.
SELECT COUNT(*) FROM tp_{pool}
WHERE id IN (:ids) AND state = COALESCE(:state, state) AND handler = COALESCE(:handler, handler)
  AND COALESCE(reason, ' ') LIKE COALESCE(:part, '%') ESCAPE '!' AND settled_at <= :before

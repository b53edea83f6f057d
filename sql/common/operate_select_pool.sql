-- Which of the given tasks of the {pool} pool are selected.
SELECT id, handler, owner FROM tp_{pool}
WHERE id IN (:ids) AND state = :state AND handler = COALESCE(:handler, handler)
  AND COALESCE(reason, ' ') LIKE COALESCE(:part, '%') ESCAPE '!' AND modified_at <= :before
ORDER BY id

-- Which of the given tasks of the {pool} pool are selected.
SELECT id, handler, owner, reason, gate, due_at FROM tp_{pool}
WHERE id IN (:ids) AND state = :state AND handler = COALESCE(:handler, handler)
  AND COALESCE(reason, ' ') LIKE COALESCE(:part, '%') ESCAPE '!' AND {given_or_null dedup_key} AND {given_owner}
  AND modified_at >= :since AND modified_at <= :before
ORDER BY id

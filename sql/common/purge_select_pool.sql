-- How many of the given tasks of the {pool} pool are selected.
SELECT COUNT(*) FROM tp_{pool}
WHERE id IN (:ids) AND state = COALESCE(:state, state) AND handler = COALESCE(:handler, handler)
  AND COALESCE(reason, ' ') LIKE COALESCE(:part, '%') ESCAPE '!' AND {given_or_null dedup_key} AND {given_owner}
  AND settled_at >= :since AND settled_at <= :before

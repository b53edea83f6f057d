-- Which of the given tasks of the pending pool are selected.
SELECT id, handler, owner FROM tp_pending
WHERE id IN (:ids) AND state = :state AND handler = COALESCE(:handler, handler)
  AND COALESCE(reason, ' ') LIKE COALESCE(:part, '%') ESCAPE '!' AND modified_at <= :before
ORDER BY id

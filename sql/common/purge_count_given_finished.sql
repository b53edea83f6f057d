-- How many of the given tasks of the finished pool are selected.
SELECT COUNT(*) FROM tp_finished
WHERE id IN (:ids) AND state = COALESCE(:state, state) AND handler = COALESCE(:handler, handler)
  AND COALESCE(reason, ' ') LIKE COALESCE(:part, '%') ESCAPE '!' AND settled_at <= :before

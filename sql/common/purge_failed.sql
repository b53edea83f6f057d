-- Deletes given tasks of the failed pool that are selected.
DELETE FROM tp_failed
WHERE id IN (:ids) AND state = COALESCE(:state, state) AND handler = COALESCE(:handler, handler)
  AND COALESCE(reason, ' ') LIKE COALESCE(:part, '%') ESCAPE '!' AND settled_at <= :before

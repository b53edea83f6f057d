-- How many tasks of the finished pool are selected.
SELECT COUNT(*) FROM tp_finished
WHERE state = COALESCE(:state, state) AND handler = COALESCE(:handler, handler)
  AND COALESCE(reason, ' ') LIKE COALESCE(:part, '%') ESCAPE '!' AND settled_at <= :before

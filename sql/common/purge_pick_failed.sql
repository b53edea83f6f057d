-- Tasks of the failed pool to be deleted, the oldest first; the library stops reading at its limit.
SELECT id FROM tp_failed
WHERE state = COALESCE(:state, state) AND handler = COALESCE(:handler, handler)
  AND COALESCE(reason, ' ') LIKE COALESCE(:part, '%') ESCAPE '!' AND settled_at <= :before
ORDER BY settled_at

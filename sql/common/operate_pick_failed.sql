-- Tasks of the failed pool that an operator selected, in the order of their ids; the library stops reading at its limit.
SELECT id, handler, owner FROM tp_failed
WHERE id > :after_id AND state = :state AND handler = COALESCE(:handler, handler)
  AND COALESCE(reason, ' ') LIKE COALESCE(:part, '%') ESCAPE '!' AND modified_at <= :before
ORDER BY id

-- The same as operate_select, under a lock, past the tasks that other sessions lock.
SELECT id, handler, owner FROM tp_{pool}
WHERE id IN (:ids) AND state = :state AND handler = COALESCE(:handler, handler)
  AND COALESCE(reason, ' ') LIKE COALESCE(:part, '%') ESCAPE '!' AND modified_at <= :before
ORDER BY id {lock_skip}

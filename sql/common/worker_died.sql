-- A worker whose process is known to be gone.
UPDATE tp_worker SET state = 'died' WHERE id = :id AND state IN ('running', 'stopping')

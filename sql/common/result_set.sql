-- The result of a task that this transaction has moved to the finished pool.
UPDATE tp_finished SET result = :result WHERE id = :id AND state = 'done' AND owner = :token

-- How a task ended that is in the finished pool, and what it gave back.
SELECT state, reason, failures, settled_at, result FROM tp_finished WHERE id = :id

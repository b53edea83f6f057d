-- How a task ended that is in the failed pool.
SELECT state, reason, failures, settled_at FROM tp_failed WHERE id = :id

-- The failed pool by handler.
SELECT handler, state, COUNT(*) AS tasks, 0 AS due, MIN(created_at) AS oldest FROM tp_failed
GROUP BY handler, state ORDER BY handler, state

-- The failed pool by handler.
SELECT handler, state, COUNT(*) AS tasks, 0 AS due, CAST(MIN(created_at) AS DECIMAL(19)) AS oldest FROM tp_failed
GROUP BY handler, state ORDER BY handler, state

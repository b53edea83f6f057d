-- The finished pool by handler and state; reads all of it.
SELECT handler, state, COUNT(*) AS tasks, 0 AS due, MIN(created_at) AS oldest FROM tp_finished
GROUP BY handler, state ORDER BY handler, state

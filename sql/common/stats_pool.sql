-- The {pool} pool by handler and state; reads all of it.
SELECT handler, state, COUNT(*) AS tasks, 0 AS due, CAST(MIN(created_at) AS DECIMAL(19)) AS oldest, 0 AS oldest_due
FROM tp_{pool} GROUP BY handler, state ORDER BY handler, state

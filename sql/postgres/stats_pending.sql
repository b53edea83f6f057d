-- Differs because the database's clock is read in the statement itself.
SELECT handler, state, COUNT(*) AS tasks,
       SUM(CASE WHEN due_at <= CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint) THEN 1 ELSE 0 END) AS due,
       MIN(created_at) AS oldest
FROM tp_pending GROUP BY handler, state ORDER BY handler, state

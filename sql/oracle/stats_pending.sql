-- Differs because the database's clock is read in the statement itself, by the function tp_now.
SELECT handler, state, COUNT(*) AS tasks,
       SUM(CASE WHEN due_at <= (SELECT tp_now() FROM DUAL) THEN 1 ELSE 0 END) AS due,
       CAST(MIN(created_at) AS DECIMAL(19)) AS oldest
FROM tp_pending GROUP BY handler, state ORDER BY handler, state

-- Differs because the database's clock is read in the statement itself.
SELECT handler, state, COUNT(*) AS tasks,
       SUM(CASE WHEN due_at <= TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 THEN 1 ELSE 0 END) AS due,
       MIN(created_at) AS oldest
FROM tp_pending GROUP BY handler, state ORDER BY handler, state

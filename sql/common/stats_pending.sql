-- The pending pool by handler and state.
SELECT handler, state, COUNT(*) AS tasks,
       SUM(CASE WHEN due_at <= {now} THEN 1 ELSE 0 END) AS due,
       {result MIN(created_at)} AS oldest
FROM tp_pending GROUP BY handler, state ORDER BY handler, state

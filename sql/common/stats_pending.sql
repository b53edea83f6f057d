-- The pending pool by handler and state. The last column: since when the first of those that are due is.
SELECT handler, state, COUNT(*) AS tasks,
       SUM(CASE WHEN due_at <= {now_once} THEN 1 ELSE 0 END) AS due,
       {result MIN(created_at)} AS oldest,
       {result MIN(CASE WHEN due_at <= {now_once} THEN due_at END)} AS oldest_due
FROM tp_pending GROUP BY handler, state ORDER BY handler, state

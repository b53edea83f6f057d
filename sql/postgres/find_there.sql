-- Differs because a producer may be granted the ids alone, and an error would spoil its transaction. :name is that of the pending pool.
SELECT id, CASE WHEN has_column_privilege(CAST(:name AS text), 'params', 'SELECT') THEN 1 ELSE 0 END AS readable
FROM (SELECT id FROM tp_pending WHERE id = :id
      UNION ALL
      SELECT id FROM tp_finished WHERE id = :id
      UNION ALL
      SELECT id FROM tp_failed WHERE id = :id) AS there

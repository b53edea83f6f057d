-- Differs because a producer may be granted the ids alone. :name is that of the pending pool.
SELECT id, (SELECT FIND_IN_SET('select', privileges) > 0 FROM information_schema.columns
            WHERE table_schema = DATABASE() AND table_name = :name AND column_name = 'params') AS readable
FROM (SELECT id FROM tp_pending WHERE id = :id
      UNION ALL
      SELECT id FROM tp_finished WHERE id = :id
      UNION ALL
      SELECT id FROM tp_failed WHERE id = :id) AS there

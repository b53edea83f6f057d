-- Differs because the database's clock is read in the statement itself.
SELECT name FROM tp_meta WHERE name = 'schema'
AND EXISTS (SELECT id FROM tp_pending WHERE handler IN (:handlers) /*shards*/ AND shard IN (:shards) /*end*/ AND due_at <= CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER))

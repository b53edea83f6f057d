-- Is there a row that a claim of these handlers and shards could take now? Reads one, without a lock.
SELECT name FROM tp_meta WHERE name = 'schema'
AND EXISTS (SELECT id FROM tp_pending WHERE handler IN (:handlers) /*shards*/ AND shard IN (:shards) /*end*/ AND due_at <= :now)

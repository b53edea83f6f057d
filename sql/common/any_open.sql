-- Is there a row of these handlers and shards in the pending pool, whatever its state and time? Reads one.
SELECT name FROM tp_meta WHERE name = 'schema'
AND EXISTS (SELECT id FROM tp_pending WHERE handler IN (:handlers) /*shards*/ AND shard IN (:shards) /*end*/)

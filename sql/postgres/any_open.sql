-- Differs because of an EXISTS the planner reads the whole table, where it hopes to meet such a row soon.
SELECT name FROM tp_meta WHERE name = 'schema'
AND (SELECT 1 FROM tp_pending WHERE handler IN (:handlers) /*shards*/ AND shard IN (:shards) /*end*/
     ORDER BY handler, priority, due_at, id LIMIT 1) = 1

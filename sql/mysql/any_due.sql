-- Differs because the database's clock is read in the statement itself.
SELECT name FROM tp_meta WHERE name = 'schema'
AND EXISTS (SELECT id FROM tp_pending WHERE handler IN (:handlers) /*shards*/ AND shard IN (:shards) /*end*/ AND due_at <= TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000)

-- The check of the classic plan: ids that look claimable, without a lock.
-- Differs because the database's clock is read in the statement itself.
SELECT id FROM tp_pending WHERE handler IN (:handlers) /*shards*/ AND shard IN (:shards) /*end*/ AND due_at <= TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000
ORDER BY priority, due_at, id LIMIT :limit

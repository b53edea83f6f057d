-- The check of the classic plan: ids that look claimable, without a lock.
-- Differs because the database's clock is read in the statement itself.
SELECT id FROM tp_pending WHERE handler IN (:handlers) /*shards*/ AND shard IN (:shards) /*end*/ AND due_at <= CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint)
ORDER BY priority, due_at, id LIMIT CAST(:limit AS integer)

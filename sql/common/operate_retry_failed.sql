-- The first half of a move from the failed pool back to the pending pool. at: the database's clock, read before. Behind a gate a task
-- waits until that has let it through.
INSERT INTO tp_pending (id, handler, biz_key, dedup_key, params, shard, priority, state, failures, max_failures, reason,
                        gate, wanted_at, due_at, created_at, modified_at)
SELECT id, handler, biz_key, dedup_key, params, shard, priority, :to_state,
       COALESCE(CAST(:failures AS DECIMAL(10, 0)), failures), max_failures, reason,
       gate, CASE WHEN gate IS NOT NULL THEN CAST(:at AS DECIMAL(19, 0)) END,
       CASE WHEN gate IS NULL THEN CAST(:at AS DECIMAL(19, 0)) ELSE 253402300799999 END, created_at, CAST(:at AS DECIMAL(19, 0))
FROM tp_failed WHERE id IN (:ids) AND state = :state

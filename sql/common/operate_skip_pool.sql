-- The first half of a move to the finished pool by an operator. at: the database's clock, read before.
INSERT INTO tp_finished (id, handler, biz_key, dedup_key, params, shard, priority, state, failures, max_failures, reason, owner,
                         due_at, created_at, modified_at, settled_at, gate)
SELECT id, handler, biz_key, dedup_key, params, shard, priority, :to_state, failures, max_failures,
       COALESCE(:reason, reason), owner, {wanted_due}, created_at, CAST(:at AS DECIMAL(19, 0)), CAST(:at AS DECIMAL(19, 0)), gate
FROM tp_{pool} WHERE id IN (:ids) AND state = :state

-- The first half of a move of many to the finished pool: those that the token holds are copied, but for
-- those behind gates: move_finished_gated.
INSERT INTO tp_finished (id, handler, biz_key, dedup_key, params, shard, priority, state, failures, max_failures, reason, owner,
                         due_at, created_at, modified_at, settled_at)
SELECT id, handler, biz_key, dedup_key, params, shard, priority, :state, failures, max_failures, reason, owner,
       COALESCE(wanted_at, due_at), created_at, {now}, {now}
FROM tp_pending WHERE {among_ids id} AND state = 'handling' AND owner = :token AND gate IS NULL

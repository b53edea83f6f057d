-- The first half of the move of tasks that this transaction has locked and nobody marked, all of one claim.
INSERT INTO tp_finished (id, handler, biz_key, dedup_key, params, shard, priority, state, failures, max_failures, reason, owner,
                         due_at, created_at, modified_at, settled_at)
SELECT id, handler, biz_key, dedup_key, params, shard, priority, 'done', failures, max_failures,
       reason, :token, due_at, created_at, {now}, {now}
FROM tp_pending WHERE {among_ids id} AND state <> 'handling' AND (owner IS NULL OR owner <> :token) AND gate IS NULL

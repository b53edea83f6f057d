-- One task, from whichever pool holds it.
SELECT id, handler, biz_key, params, 0 AS long_params, reason, state, shard, priority, failures, max_failures, created_at,
       due_at, dedup_key, owner, modified_at, 0 AS settled_at, gate, {deadline_at_pending} AS deadline_at,
       'pending' AS pool, wanted_at
FROM tp_pending WHERE id = :id
UNION ALL
SELECT id, handler, biz_key, params, 0 AS long_params, reason, state, shard, priority, failures, max_failures, created_at,
       due_at, dedup_key, owner, modified_at, settled_at AS settled_at, gate, {deadline_at} AS deadline_at,
       'finished' AS pool, 0 AS wanted_at
FROM tp_finished WHERE id = :id
UNION ALL
SELECT id, handler, biz_key, params, 0 AS long_params, reason, state, shard, priority, failures, max_failures, created_at,
       due_at, dedup_key, owner, modified_at, settled_at AS settled_at, gate, {deadline_at} AS deadline_at,
       'failed' AS pool, 0 AS wanted_at
FROM tp_failed WHERE id = :id

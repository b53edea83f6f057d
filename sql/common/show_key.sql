-- The open task with this key.
SELECT id, handler, biz_key, params, 0 AS long_params, reason, state, shard, priority, failures, max_failures, created_at,
       due_at, dedup_key, owner, modified_at, 0 AS settled_at, gate, {deadline_at_pending} AS deadline_at,
       'pending' AS pool, wanted_at
FROM tp_pending WHERE dedup_key = :dedup_key

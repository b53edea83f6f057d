-- What was asked for by the task with this id, in any pool.
SELECT handler, biz_key, dedup_key, params, state, shard, priority, max_failures, due_at, created_at, modified_at, gate
FROM tp_pending WHERE id = :id
UNION ALL
SELECT handler, biz_key, dedup_key, params, state, shard, priority, max_failures, due_at, created_at, modified_at, gate
FROM tp_finished WHERE id = :id
UNION ALL
SELECT handler, biz_key, dedup_key, params, state, shard, priority, max_failures, due_at, created_at, modified_at, gate
FROM tp_failed WHERE id = :id

-- As find_content, by locking reads; see find_any_locking.
{committed SELECT handler, biz_key, dedup_key, params, state, shard, priority, max_failures, due_at, created_at, modified_at, gate
FROM tp_pending WHERE id = :id}
UNION ALL
{committed SELECT handler, biz_key, dedup_key, params, state, shard, priority, max_failures, due_at, created_at, modified_at, gate
FROM tp_finished WHERE id = :id}
UNION ALL
{committed SELECT handler, biz_key, dedup_key, params, state, shard, priority, max_failures, due_at, created_at, modified_at, gate
FROM tp_failed WHERE id = :id}

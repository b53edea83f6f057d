-- One task, from whichever pool holds it.
SELECT id, handler, biz_key, params, 0 AS long_params, reason, state, shard, priority, failures, max_failures, created_at,
       due_at, dedup_key, owner, modified_at, 0 AS settled_at, gate, 'pending' AS pool, wanted_at,
       (SELECT asked.due_at FROM tp_cancel asked
        WHERE asked.task_id = tp_pending.id AND asked.who IS NULL AND asked.created_at >= tp_pending.created_at) AS deadline_at
FROM tp_pending WHERE id = :id
UNION ALL
SELECT id, handler, biz_key, params, 0 AS long_params, reason, state, shard, priority, failures, max_failures, created_at,
       due_at, dedup_key, owner, modified_at, settled_at AS settled_at, gate, 'finished' AS pool, 0 AS wanted_at, 0 AS deadline_at
FROM tp_finished WHERE id = :id
UNION ALL
SELECT id, handler, biz_key, params, 0 AS long_params, reason, state, shard, priority, failures, max_failures, created_at,
       due_at, dedup_key, owner, modified_at, settled_at AS settled_at, gate, 'failed' AS pool, 0 AS wanted_at, 0 AS deadline_at
FROM tp_failed WHERE id = :id

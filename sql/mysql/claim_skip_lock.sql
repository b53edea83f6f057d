-- Locks the picked rows past those that others hold, and rechecks them under the lock. By the primary key: a scan would
-- lock every row that it passes.
SELECT id, handler, biz_key,
       CASE WHEN LENGTH(params) <= :inline_max THEN params END AS params,
       CASE WHEN LENGTH(params) > :inline_max THEN 1 ELSE 0 END AS long_params,
       reason, state, shard, priority, failures, max_failures, due_at, created_at,
       {now} AS now_ms, modified_at, owner
FROM tp_pending FORCE INDEX (PRIMARY) WHERE id IN (:ids) AND due_at <= {now}
ORDER BY priority, due_at, id FOR UPDATE SKIP LOCKED

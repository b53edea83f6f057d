-- Tasks that look claimable; the library stops reading at its limit.
SELECT id, handler, biz_key,
       CASE WHEN LENGTH(params) <= CAST(:inline_max AS DECIMAL(19, 0)) THEN params END AS params,
       CASE WHEN LENGTH(params) > CAST(:inline_max AS DECIMAL(19, 0)) THEN 1 ELSE 0 END AS long_params,
       reason, state, shard, priority, failures, max_failures, due_at, created_at,
       CAST(:now AS DECIMAL(19, 0)) AS now_ms, modified_at, owner
FROM tp_pending WHERE handler IN (:handlers) /*shards*/ AND shard IN (:shards) /*end*/ AND due_at <= :now
ORDER BY priority, due_at, id

-- Differs because the database's clock is read in the statement itself.
SELECT id, handler, biz_key,
       CASE WHEN LENGTH(params) <= :inline_max THEN params END AS params,
       CASE WHEN LENGTH(params) > :inline_max THEN 1 ELSE 0 END AS long_params,
       reason, state, shard, priority, failures, max_failures, due_at, created_at,
       TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 AS now_ms, modified_at, owner
FROM tp_pending WHERE handler IN (:handlers) /*shards*/ AND shard IN (:shards) /*end*/ AND due_at <= TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000
ORDER BY priority, due_at, id LIMIT :limit

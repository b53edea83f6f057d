-- Locks past other claimers, marks and returns in one statement. MATERIALIZED keeps the limit from being run twice.
WITH picked AS MATERIALIZED (
  SELECT id, due_at FROM tp_pending WHERE handler IN (:handlers) /*shards*/ AND shard IN (:shards) /*end*/ AND due_at <= CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint)
  ORDER BY priority, due_at, id LIMIT CAST(:limit AS integer) FOR UPDATE SKIP LOCKED
), taken AS (
  UPDATE tp_pending AS task SET failures = task.failures + CASE WHEN task.state = 'handling' AND task.failures < 2147483647 THEN 1 ELSE 0 END,
         reason = CASE WHEN task.state = 'handling' THEN 'lease lapsed, held by ' || COALESCE(CAST(task.owner AS varchar), 'nobody')
            WHEN task.reason LIKE 'lease lapsed, held by %' THEN LEFT('earlier: ' || task.reason, 512)
            ELSE task.reason END,
         state = 'handling', owner = CAST(:token AS uuid),
         due_at = CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint) + CAST(:lease_ms AS bigint),
         modified_at = CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint)
  FROM picked WHERE task.id = picked.id
  RETURNING task.*, picked.due_at AS was_due
)
SELECT id, handler, biz_key,
       CASE WHEN octet_length(params) <= CAST(:inline_max AS integer) THEN params END AS params,
       CASE WHEN octet_length(params) > CAST(:inline_max AS integer) THEN 1 ELSE 0 END AS long_params,
       reason, state, shard, priority, failures, max_failures, due_at, created_at
FROM taken ORDER BY priority, was_due, id

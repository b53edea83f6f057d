-- Differs because one statement moves the row: nothing between the two halves can go wrong.
WITH gone AS (
  DELETE FROM tp_pending WHERE id = :id AND state = 'handling' AND owner = :token RETURNING *
)
INSERT INTO tp_failed (id, handler, biz_key, dedup_key, params, shard, priority, state, failures, max_failures, reason, owner,
                         due_at, created_at, modified_at, settled_at)
SELECT id, handler, biz_key, dedup_key, params, shard, priority, 'failed', CAST(:failures AS integer), max_failures,
       COALESCE(:reason, reason), owner, due_at, created_at, CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint), CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint)
FROM gone

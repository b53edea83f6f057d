-- Differs because one statement moves the row: nothing between the two halves can go wrong.
-- IS TRUE keeps the index of owner out: by it, each settle would read all that the claim holds.
WITH gone AS (
  DELETE FROM tp_pending WHERE id = :id AND state = 'handling' AND (owner = :token) IS TRUE RETURNING *
)
INSERT INTO tp_finished (id, handler, biz_key, dedup_key, params, shard, priority, state, failures, max_failures, reason, owner,
                         due_at, created_at, modified_at, settled_at)
SELECT id, handler, biz_key, dedup_key, params, shard, priority, CAST(:state AS varchar), failures, max_failures,
       COALESCE(:reason, reason), owner, due_at, created_at, CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint), CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint)
FROM gone

-- Settle, done or skipped (:state), in the transaction of the effect.
-- One statement moves the row. Row count 1: yours, commit. 0: the claim is lost; roll back, and with it the effect.
WITH gone AS (
  DELETE FROM tp_pending WHERE id = CAST(:id AS uuid) AND state = 'handling' AND owner = CAST(:token AS uuid) RETURNING *
)
INSERT INTO tp_finished (id, handler, biz_key, dedup_key, params, shard, priority, state, failures, max_failures, reason, owner,
                         due_at, created_at, modified_at, settled_at)
SELECT id, handler, biz_key, dedup_key, params, shard, priority, CAST(:state AS varchar), failures, max_failures,
       COALESCE(CAST(:reason AS varchar), reason), owner, COALESCE(wanted_at, due_at), created_at,
       CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint),
       CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint)
FROM gone;

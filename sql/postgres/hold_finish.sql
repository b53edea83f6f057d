-- Differs because one statement moves a task that this transaction has locked, if its row is as it was then. Nobody else can change
-- that row, so the count says enough: for 0 the library looks whether a trigger of the application dropped it (tpi_hold_unmoved).
WITH gone AS (
  DELETE FROM tp_pending WHERE id = :id AND state = :state AND due_at = :due_at AND modified_at = :modified_at AND gate IS NULL
  RETURNING id, handler, biz_key, dedup_key, params, shard, priority, failures, max_failures, reason, due_at, created_at
)
INSERT INTO tp_finished (id, handler, biz_key, dedup_key, params, shard, priority, state, failures, max_failures, reason, owner,
                         due_at, created_at, modified_at, settled_at)
SELECT id, handler, biz_key, dedup_key, params, shard, priority, 'done', failures, max_failures,
       reason, CAST(:token AS uuid), due_at, created_at, {now}, {now}
FROM gone

-- One statement moves a task that this transaction has locked, if its row is as it was then.
-- Only what came in is taken away: a trigger of the application's own may drop a row without a word.
WITH task AS (
  SELECT * FROM tp_pending
  WHERE id = :id AND state = :state AND due_at = :due_at AND modified_at = :modified_at FOR UPDATE
), put AS (
  INSERT INTO tp_finished (id, handler, biz_key, dedup_key, params, shard, priority, state, failures, max_failures, reason, owner,
                           due_at, created_at, modified_at, settled_at)
  SELECT id, handler, biz_key, dedup_key, params, shard, priority, 'done', failures, max_failures,
         reason, CAST(:token AS uuid), due_at, created_at, CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint), CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint)
  FROM task
  RETURNING id
)
DELETE FROM tp_pending WHERE id = (SELECT id FROM put) AND state = :state AND due_at = :due_at AND modified_at = :modified_at

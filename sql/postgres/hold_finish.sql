-- Differs because one statement moves a task that this transaction has locked, if its row is as it was then. Triggers of the
-- application: as in move_finished.
WITH gone AS (
  DELETE FROM tp_pending WHERE id = :id AND state = :state AND due_at = :due_at AND modified_at = :modified_at AND gate IS NULL RETURNING *
), put AS (
  INSERT INTO tp_finished (id, handler, biz_key, dedup_key, params, shard, priority, state, failures, max_failures, reason, owner,
                           due_at, created_at, modified_at, settled_at)
  SELECT id, handler, biz_key, dedup_key, params, shard, priority, 'done', failures, max_failures,
         reason, CAST(:token AS uuid), due_at, created_at, {now}, {now}
  FROM gone
  RETURNING id
)
SELECT CASE WHEN EXISTS (SELECT 1 FROM put) THEN 1
            ELSE CAST('a trigger or rule of your own on the finished pool refuses ' || id AS integer) END
FROM gone

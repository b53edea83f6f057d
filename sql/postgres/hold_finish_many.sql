-- Differs because one statement moves the tasks that this transaction has locked and nobody marked, all of one claim. The ids come as one
-- JSON document, and as an array of a subselect: for a plain list the planner reads all of a pool that is small when it
-- plans, and large soon after. A row that a trigger of the application does not let in is an error, as in move_finished.
WITH gone AS (
  DELETE FROM tp_pending
  WHERE {among_ids id}
    AND state <> 'handling' AND owner IS DISTINCT FROM CAST(:token AS uuid) AND gate IS NULL
  RETURNING *
), put AS (
  INSERT INTO tp_finished (id, handler, biz_key, dedup_key, params, shard, priority, state, failures, max_failures, reason, owner,
                           due_at, created_at, modified_at, settled_at)
  SELECT id, handler, biz_key, dedup_key, params, shard, priority, 'done', failures, max_failures,
         reason, CAST(:token AS uuid), due_at, created_at, {now_once}, {now_once}
  FROM gone
  RETURNING id
)
SELECT CASE WHEN (SELECT COUNT(*) FROM put) = (SELECT COUNT(*) FROM gone) THEN 1
            ELSE CAST('a trigger or rule of your own on the finished pool refuses a task among them ' || id AS integer) END
FROM gone

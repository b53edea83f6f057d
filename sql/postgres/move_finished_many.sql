-- Differs because one statement moves the rows: nothing between the two halves can go wrong. The rows are
-- locked in the order of their ids, or sessions that settle or extend the same tasks would deadlock. The ids come as one
-- JSON document, so that one plan serves any number; IS TRUE keeps the planner from the index of owner, by which all tasks of the claim
-- would be read. A row that a trigger of the application does not let go, or does not let in, is an error, and none is moved.
WITH held AS (
  SELECT id FROM tp_pending
  WHERE {among_ids id}
    AND state = 'handling' AND {not_by_index owner = :token} AND gate IS NULL
  ORDER BY id FOR UPDATE
), gone AS (
  DELETE FROM tp_pending WHERE id = ANY (ARRAY(SELECT id FROM held))
    AND state = 'handling' AND {not_by_index owner = :token}
  RETURNING *
), put AS (
  INSERT INTO tp_finished (id, handler, biz_key, dedup_key, params, shard, priority, state, failures, max_failures, reason, owner,
                           due_at, created_at, modified_at, settled_at)
  SELECT id, handler, biz_key, dedup_key, params, shard, priority, CAST(:state AS varchar), failures, max_failures,
         reason, owner, COALESCE(wanted_at, due_at), created_at, {now_once}, {now_once}
  FROM gone
  RETURNING id
)
SELECT CASE WHEN (SELECT COUNT(*) FROM put) = (SELECT COUNT(*) FROM held) THEN 1
            ELSE CAST('a trigger or rule of your own on the pending or finished pool refuses a task among them ' || id AS integer) END
FROM gone

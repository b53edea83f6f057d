-- Differs because one statement moves the row: nothing between the two halves can go wrong. A row that a trigger of the
-- application does not let go is not copied; one that a trigger does not let in is an error, so that it stays where it was.
-- IS TRUE keeps the planner from the index of owner, by which each settle would read all tasks of the claim.
WITH gone AS (
  DELETE FROM tp_pending WHERE id = :id AND state = 'handling' AND {not_by_index owner = :token} AND gate IS NULL RETURNING *
), put AS (
  INSERT INTO tp_finished (id, handler, biz_key, dedup_key, params, shard, priority, state, failures, max_failures, reason, owner,
                           due_at, created_at, modified_at, settled_at)
  SELECT id, handler, biz_key, dedup_key, params, shard, priority, CAST(:state AS varchar), failures, max_failures,
         COALESCE(:reason, reason), owner, COALESCE(wanted_at, due_at), created_at, {now}, {now}
  FROM gone
  RETURNING id
)
SELECT CASE WHEN EXISTS (SELECT 1 FROM put) THEN 1
            ELSE CAST('a trigger or rule of your own on the finished pool refuses ' || id AS integer) END
FROM gone

-- One statement moves the tasks that this transaction has locked and nobody marked, all of one claim. The ids come as one
-- JSON document, and as an array of a subselect: for a plain list the planner reads all of a pool that is small when it
-- looks, and large soon after.
-- Only what came in is taken away: a trigger of the application's own may drop a row without a word.
WITH task AS (
  SELECT * FROM tp_pending
  WHERE id = ANY (ARRAY(SELECT CAST(value AS uuid) FROM json_array_elements_text(CAST(:ids_document AS json)) AS list (value)))
    AND state <> 'handling' AND owner IS DISTINCT FROM CAST(:token AS uuid) FOR UPDATE
), put AS (
  INSERT INTO tp_finished (id, handler, biz_key, dedup_key, params, shard, priority, state, failures, max_failures, reason, owner,
                           due_at, created_at, modified_at, settled_at)
  SELECT id, handler, biz_key, dedup_key, params, shard, priority, 'done', failures, max_failures,
         reason, CAST(:token AS uuid), due_at, created_at, (SELECT CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint)), (SELECT CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint))
  FROM task
  RETURNING id
)
DELETE FROM tp_pending WHERE id = ANY (ARRAY(SELECT id FROM put))
  AND state <> 'handling' AND owner IS DISTINCT FROM CAST(:token AS uuid)

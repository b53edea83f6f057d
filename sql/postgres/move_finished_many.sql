-- Differs because one statement moves the rows: nothing between the two halves can go wrong. The rows are
-- locked in the order of their ids: sessions that mind the same tasks would deadlock. The ids come as one
-- JSON document, so that the plan hangs on no count; IS TRUE keeps the index of owner out, by which all that the claim
-- holds would be read.
-- Only what came in is taken away: a trigger of the application's own may drop a row without a word.
WITH task AS (
  SELECT * FROM tp_pending
  WHERE id = ANY (ARRAY(SELECT CAST(value AS uuid) FROM json_array_elements_text(CAST(:ids_document AS json)) AS list (value)))
    AND state = 'handling' AND (owner = :token) IS TRUE
  ORDER BY id FOR UPDATE
), put AS (
  INSERT INTO tp_finished (id, handler, biz_key, dedup_key, params, shard, priority, state, failures, max_failures, reason, owner,
                           due_at, created_at, modified_at, settled_at)
  SELECT id, handler, biz_key, dedup_key, params, shard, priority, CAST(:state AS varchar), failures, max_failures,
         reason, owner, due_at, created_at, (SELECT CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint)), (SELECT CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint))
  FROM task
  RETURNING id
)
DELETE FROM tp_pending WHERE id = ANY (ARRAY(SELECT id FROM put))
  AND state = 'handling' AND (owner = :token) IS TRUE

-- Locks tasks of one lane, past those that other claims have locked, marks and returns them in one statement; nothing when there is a lane from :ahead on before
-- it, which is more urgent (MIN is read from the index; for an EXISTS the planner may read the table until it meets one).
-- MATERIALIZED keeps the limit from being run twice. A locked row is marked by its ctid, which needs no index, and its handler, because
-- each partition has ctids of its own (IS TRUE keeps the planner from the handler's index); a row that was changed while the statement
-- began has another ctid, and is left to the next claim. The clock in a SELECT is read once, and not for each row.
-- FULL JOIN and OFFSET 0 leave the planner no join but by hash or order: where it expects few rows it would compare each with each.
WITH picked AS MATERIALIZED (
  SELECT id, due_at, ctid AS row_ctid FROM tp_pending
  WHERE {lane} AND {due_since}
    AND (SELECT MIN(priority) FROM tp_pending AS task WHERE task.handler = :handler
         AND task.priority >= CAST(:ahead AS smallint) AND task.priority < CAST(:priority AS smallint)) IS NULL
  ORDER BY due_at, id {first_n_end} {lock_skip}
), taken AS (
  UPDATE tp_pending AS task SET failures = task.failures + CASE WHEN task.state = 'handling' AND task.failures < 2147483647 THEN 1 ELSE 0 END,
         reason = CASE WHEN task.state = 'handling' THEN 'lease lapsed, held by ' || COALESCE(CAST(task.owner AS varchar), 'nobody')
            WHEN task.reason LIKE 'lease lapsed, held by %' THEN LEFT('earlier: ' || task.reason, 512)
            ELSE task.reason END,
         state = 'handling', owner = CAST(:token AS uuid),
         wanted_at = task.due_at,
         due_at = {now_once_plus lease},
         modified_at = {now_once}
  WHERE (task.handler = :handler) IS TRUE AND task.ctid = ANY (ARRAY(SELECT row_ctid FROM picked)) RETURNING task.*
)
SELECT id, NULL AS handler, biz_key,
       {params_if_short params},
       reason, {state_of_taken} AS state, {mostly_0 shard}, {mostly_0 priority}, {mostly_0 failures}, max_failures, created_at, due_at,
       {mostly_created wanted_at}
FROM (SELECT taken.*, picked.due_at AS was_due_at FROM taken FULL JOIN picked ON picked.id = taken.id OFFSET 0) AS claimed
WHERE state IS NOT NULL ORDER BY was_due_at, id

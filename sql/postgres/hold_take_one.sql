-- hold_take for one task. With the limit in the text the planner knows that one row is wanted whatever the other parameters
-- are, so it keeps its plan; with any limit it plans anew each time, which costs more than locking one row.
SELECT id, NULL AS handler, biz_key,
       {params_if_short params},
       reason, state, shard, priority, failures, max_failures, created_at, due_at,
       {now_once} AS now_ms, modified_at, owner
FROM tp_pending
WHERE {lane} AND {due_since}
  AND (SELECT MIN(priority) FROM tp_pending AS task WHERE task.handler = :handler
         AND task.priority >= CAST(:ahead AS smallint) AND task.priority < CAST(:priority AS smallint)) IS NULL
ORDER BY due_at, id LIMIT 1 {lock_skip}

-- hold_take for one task. With the limit in the text the planner knows that one row is wanted whatever the other parameters
-- are, so it keeps its plan; with any limit it plans anew each time, which costs more than locking one row. What costs here is to set up
-- the plan, so the look for a more urgent lane is a part of the lane's condition and no step of its own (ORDER BY: see claim_skip, MIN).
-- A column costs the same in each node of the plan, so most come in one text (TPI_ROWS_HELD in src/ops/batch.h).
SELECT biz_key, reason,
       concat(id, chr(31), concat_ws(',', created_at, {now_number}, COALESCE(max_failures, 0), shard, priority, failures,
                        CASE WHEN {bytes params} > {inline_max} THEN 1 ELSE 0 END, due_at, modified_at),
              '/', state, chr(31), owner, chr(31), CASE WHEN {bytes params} <= {inline_max} THEN params END) AS packed
FROM tp_pending
WHERE handler = :handler {shards}
  AND priority = CASE WHEN (SELECT task.priority FROM tp_pending AS task WHERE task.handler = :handler
                              AND task.priority >= CAST(:ahead AS smallint) AND task.priority < CAST(:priority AS smallint)
                            ORDER BY task.priority LIMIT 1) IS NULL THEN CAST(:priority AS smallint) END
  AND {due_since}
ORDER BY due_at, id LIMIT 1 {lock_skip}

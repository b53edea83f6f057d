-- Locks the first due rows of a lane past those that others hold, and marks nothing. Only what the limit lets through is
-- locked. Nothing when a lane from :ahead on comes before it, which is more urgent (MIN: see claim_skip).
-- A column costs the same in each node of the plan, so most come in one text (TPI_ROWS_HELD in src/ops/batch.h).
SELECT biz_key, reason,
       concat(id, chr(31), concat_ws(',', created_at, {now_once}, COALESCE(max_failures, 0), shard, priority, failures,
                        CASE WHEN {bytes params} > {inline_max} THEN 1 ELSE 0 END, due_at, modified_at),
              '/', state, chr(31), owner, chr(31), CASE WHEN {bytes params} <= {inline_max} THEN params END) AS packed
FROM tp_pending
WHERE {lane} AND {due_since}
  AND (SELECT MIN(priority) FROM tp_pending AS task WHERE task.handler = :handler
         AND task.priority >= CAST(:ahead AS smallint) AND task.priority < CAST(:priority AS smallint)) IS NULL
ORDER BY due_at, id {first_n_end} {lock_skip}

-- Locks the first due rows of a lane past those that others hold, and marks nothing. Only what the limit lets through is
-- locked. Nothing when a lane from :ahead on comes before it, which is more urgent (MIN: see claim_skip).
SELECT id, handler, biz_key,
       CASE WHEN octet_length(params) <= CAST(:inline_max AS integer) THEN params END AS params,
       CASE WHEN octet_length(params) > CAST(:inline_max AS integer) THEN 1 ELSE 0 END AS long_params,
       reason, state, shard, priority, failures, max_failures, due_at, created_at,
       (SELECT {now}) AS now_ms, modified_at, owner
FROM tp_pending
WHERE handler = :handler /*shards*/ AND shard IN (:shards) /*but 0*/ AND shard <> 0 /*end*/ AND priority = CAST(:priority AS smallint) AND due_at BETWEEN CAST(:since AS bigint) AND {now}
  AND (SELECT MIN(priority) FROM tp_pending AS task WHERE task.handler = :handler
         AND task.priority >= CAST(:ahead AS smallint) AND task.priority < CAST(:priority AS smallint)) IS NULL
ORDER BY due_at, id LIMIT CAST(:limit AS integer) FOR UPDATE SKIP LOCKED

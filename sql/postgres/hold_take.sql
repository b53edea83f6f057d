-- Locks the first due rows of a lane past those that others hold, and marks nothing. Only what the limit lets through is
-- locked. Nothing when a lane from :ahead on comes before it, which is more urgent (MIN: see claim_skip).
SELECT id, NULL AS handler, biz_key,
       {params_if_short params},
       reason, state, shard, priority, failures, max_failures, created_at, due_at,
       {now_once} AS now_ms, modified_at, owner
FROM tp_pending
WHERE {lane} AND {due_since}
  AND (SELECT MIN(priority) FROM tp_pending AS task WHERE task.handler = :handler
         AND task.priority >= CAST(:ahead AS smallint) AND task.priority < CAST(:priority AS smallint)) IS NULL
ORDER BY due_at, id {first_n_end} {lock_skip}

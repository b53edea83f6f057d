-- Locks the first due rows of a lane past those that others hold, and marks nothing. Only what the limit lets through is
-- locked. Nothing when a lane from :ahead on comes before it, which is more urgent (MIN: see claim_skip).
SELECT id, NULL AS handler, biz_key,
       {params_if_short params},
       reason, {mostly_pending state}, {mostly_0 shard}, {mostly_0 priority}, {mostly_0 failures},
       max_failures, created_at, {mostly_created due_at},
       {now_once} AS now_ms, {mostly_created modified_at}, owner
FROM tp_pending
WHERE {lane} AND {due_since}
  AND (SELECT MIN(priority) FROM tp_pending AS task WHERE task.handler = :handler
         AND task.priority >= CAST(:ahead AS smallint) AND task.priority < CAST(:priority AS smallint)) IS NULL
ORDER BY due_at, id {first_n_end} {lock_skip}

-- The first due rows of a lane, which nobody else can change: the transaction began IMMEDIATE. Nothing when there is a lane
-- from :ahead on before it, which is more urgent. NULL is read as 0, and costs the driver less.
SELECT id, handler, biz_key,
       CASE WHEN LENGTH(CAST(params AS BLOB)) <= CAST(:inline_max AS INTEGER) THEN params END AS params,
       CASE WHEN LENGTH(CAST(params AS BLOB)) > CAST(:inline_max AS INTEGER) THEN 1 END AS long_params,
       reason, state, NULLIF(shard, 0), NULLIF(priority, 0), NULLIF(failures, 0),
       max_failures, due_at, created_at,
       {now} AS now_ms, modified_at, owner
FROM tp_pending
WHERE handler = :handler /*shards*/ AND shard IN (:shards) /*but 0*/ AND shard <> 0 /*end*/ AND priority = :priority AND due_at <= {now}
  AND NOT EXISTS (SELECT 1 FROM tp_pending AS task WHERE task.handler = :handler
                    AND task.priority >= :ahead AND task.priority < :priority)
ORDER BY due_at, id LIMIT :limit

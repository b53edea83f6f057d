-- Differs because it looks lane by lane: only what the limit lets through is read whole. NULL is read
-- as 0, and costs the driver less.
SELECT task.id, task.handler, task.biz_key,
       CASE WHEN LENGTH(CAST(task.params AS BLOB)) <= CAST(:inline_max AS INTEGER) THEN task.params END AS params,
       CASE WHEN LENGTH(CAST(task.params AS BLOB)) > CAST(:inline_max AS INTEGER) THEN 1 END AS long_params,
       task.reason, task.state, NULLIF(task.shard, 0), NULLIF(task.priority, 0), NULLIF(task.failures, 0),
       task.max_failures, task.due_at, task.created_at,
       {now} AS now_ms, task.modified_at, task.owner
FROM (SELECT id FROM (
        /*rows*/
        SELECT * FROM (SELECT id, due_at FROM tp_pending
                       WHERE handler = :handler /*shards*/ AND shard IN (:shards) /*but 0*/ AND shard <> 0 /*end*/ AND priority = :priority AND due_at <= {now}
                       ORDER BY due_at, id LIMIT :limit) AS lane
        /*end*/
      ) AS due ORDER BY due_at, id LIMIT :limit) AS found
JOIN tp_pending AS task ON task.id = found.id
ORDER BY task.priority, task.due_at, task.id

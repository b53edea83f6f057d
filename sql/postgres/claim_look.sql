-- Differs because it looks lane by lane: only what the limit lets through is read whole.
SELECT task.id, task.handler, task.biz_key,
       CASE WHEN octet_length(task.params) <= CAST(:inline_max AS integer) THEN task.params END AS params,
       CASE WHEN octet_length(task.params) > CAST(:inline_max AS integer) THEN 1 ELSE 0 END AS long_params,
       task.reason, task.state, task.shard, task.priority, task.failures, task.max_failures, task.due_at, task.created_at,
       {now} AS now_ms, task.modified_at, task.owner
FROM (SELECT id FROM (
        /*rows*/
        SELECT * FROM (SELECT id, due_at FROM tp_pending
                       WHERE handler = :handler /*shards*/ AND shard IN (:shards) /*but 0*/ AND shard <> 0 /*end*/ AND priority = CAST(:priority AS smallint) AND due_at <= {now}
                       ORDER BY due_at, id LIMIT CAST(:limit AS integer)) AS lane
        /*end*/
      ) AS due ORDER BY due_at, id LIMIT CAST(:limit AS integer)) AS found
JOIN tp_pending AS task ON task.id = found.id
ORDER BY task.priority, task.due_at, task.id

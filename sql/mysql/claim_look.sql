-- Differs because it looks lane by lane: only what the limit lets through is read whole.
-- The index is forced, that of shards where shards are asked for: the server may prefer to read and sort the whole pool, and lock it.
SELECT task.id, task.handler, task.biz_key,
       CASE WHEN LENGTH(task.params) <= :inline_max THEN task.params END AS params,
       CASE WHEN LENGTH(task.params) > :inline_max THEN 1 ELSE 0 END AS long_params,
       task.reason, task.state, task.shard, task.priority, task.failures, task.max_failures, task.due_at, task.created_at,
       {now} AS now_ms, task.modified_at, task.owner
FROM (SELECT id FROM (
        /*rows*/
        SELECT * FROM (SELECT id, due_at FROM tp_pending FORCE INDEX (tp_pending_due /*shards*/, tp_pending_shd) IGNORE INDEX (tp_pending_due /*end*/)
                       WHERE handler = :handler /*shards*/ AND shard IN (:shards) /*end*/ AND priority = :priority AND due_at <= {now}
                       ORDER BY due_at, id LIMIT :limit) AS lane
        /*end*/
      ) AS due ORDER BY due_at, id LIMIT :limit) AS found
JOIN tp_pending AS task ON task.id = found.id
ORDER BY task.priority, task.due_at, task.id

-- Differs because it looks lane by lane: only what the limit lets through is read whole. The order is made before ROWNUM counts.
SELECT task.id, task.handler, task.biz_key,
       CASE WHEN LENGTH(task.params) <= 1000 THEN CAST(task.params AS VARCHAR(4000)) END AS params,
       CASE WHEN LENGTH(task.params) > 1000 THEN 1 ELSE 0 END AS long_params,
       task.reason, task.state, task.shard, task.priority, task.failures, task.max_failures, task.due_at, task.created_at,
       CAST({now} AS DECIMAL(19)) AS now_ms, task.modified_at, task.owner
FROM (
  SELECT id FROM (
    SELECT id, due_at FROM (
    /*rows*/
    SELECT * FROM (SELECT id, due_at FROM tp_pending
                   WHERE handler = :handler /*shards*/ AND shard IN (:shards) /*end*/ AND priority = :priority AND due_at <= {now}
                   ORDER BY due_at, id) WHERE ROWNUM <= :limit
    /*end*/
    ) ORDER BY due_at, id
  ) WHERE ROWNUM <= :limit
) found JOIN tp_pending task ON task.id = found.id
ORDER BY task.priority, task.due_at, task.id

-- The first lane behind :priority of each scope (a handler, or a handler and a shard), when its first task is due, the time, and the
-- priority of the scope's last lane. Each MIN and MAX stands alone in its subquery and is one look at an end of a range of the
-- index: what is in a lane is not read. A lane that goes meanwhile cannot be seen by halves: the statement reads at one time.
SELECT scope, priority, due_at, CAST((SELECT tp_now() FROM DUAL) AS DECIMAL(19)) AS now_ms, last_priority
FROM (
  /*rows*/
  SELECT CAST(:at AS DECIMAL(19)) AS scope,
         CAST((SELECT MIN(priority) FROM tp_pending WHERE handler = :handler /*shards*/ AND shard IN (:shards) /*end*/ AND priority > :priority) AS DECIMAL(19)) AS priority,
         CAST((SELECT MIN(due_at) FROM tp_pending WHERE handler = :handler /*shards*/ AND shard IN (:shards) /*end*/ AND priority =
           (SELECT MIN(priority) FROM tp_pending WHERE handler = :handler /*shards*/ AND shard IN (:shards) /*end*/ AND priority > :priority)) AS DECIMAL(19)) AS due_at,
         CAST((SELECT MAX(priority) FROM tp_pending WHERE handler = :handler /*shards*/ AND shard IN (:shards) /*end*/) AS DECIMAL(19)) AS last_priority
  FROM DUAL
  /*end*/
) WHERE due_at IS NOT NULL

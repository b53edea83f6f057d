-- The lanes of each scope (a handler, or a handler and a shard), when their first task is due, and the time.
-- From one lane to the next by the index: what is in a lane is not read. OFFSET 0 keeps due_at from being looked for twice.
WITH RECURSIVE scope AS (
  /*rows*/
  SELECT CAST(:at AS bigint) AS number, CAST(:handler AS varchar) AS handler, CAST(:shard AS integer) AS shard
  /*end*/
), lane AS (
  SELECT number, handler, shard,
         (SELECT priority FROM tp_pending AS task WHERE task.handler = scope.handler /*shards*/ AND task.shard = scope.shard /*but 0*/ AND task.shard <> 0 /*end*/
          ORDER BY priority LIMIT 1) AS priority
  FROM scope
  UNION ALL
  SELECT number, handler, shard,
         (SELECT priority FROM tp_pending AS task WHERE task.handler = lane.handler /*shards*/ AND task.shard = lane.shard /*but 0*/ AND task.shard <> 0 /*end*/
            AND task.priority > lane.priority
          ORDER BY priority LIMIT 1)
  FROM lane WHERE priority IS NOT NULL
)
SELECT number, priority, due_at, CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint) AS now_ms
FROM (SELECT number, priority,
             (SELECT due_at FROM tp_pending AS task WHERE task.handler = lane.handler /*shards*/ AND task.shard = lane.shard /*but 0*/ AND task.shard <> 0 /*end*/
                AND task.priority = lane.priority
              ORDER BY due_at LIMIT 1) AS due_at
      FROM lane WHERE priority IS NOT NULL OFFSET 0) AS head

-- Differs because it finds all lanes of each scope (a handler, or a handler and a shard) at once, and not one: when their first task is due, and the
-- time.
-- From one lane to the next by the index: the tasks of a lane are not read.
WITH RECURSIVE scope AS (
  {rows SELECT CAST(:at AS INTEGER) AS number, CAST(:handler AS TEXT) AS handler, CAST(:shard AS INTEGER) AS shard}
), lane AS (
  SELECT number, handler, shard,
         (SELECT priority FROM tp_pending AS task WHERE task.handler = scope.handler {if_shards AND task.shard = scope.shard {but_0 AND task.shard <> 0}}
          ORDER BY priority LIMIT 1) AS priority
  FROM scope
  UNION ALL
  SELECT number, handler, shard,
         (SELECT priority FROM tp_pending AS task WHERE task.handler = lane.handler {if_shards AND task.shard = lane.shard {but_0 AND task.shard <> 0}}
            AND task.priority > lane.priority
          ORDER BY priority LIMIT 1)
  FROM lane WHERE priority IS NOT NULL
)
SELECT number, priority, due_at, {now} AS now_ms
FROM (SELECT number, priority,
             (SELECT due_at FROM tp_pending AS task WHERE task.handler = lane.handler {if_shards AND task.shard = lane.shard {but_0 AND task.shard <> 0}}
                AND task.priority = lane.priority
              ORDER BY due_at LIMIT 1) AS due_at
      FROM lane WHERE priority IS NOT NULL) AS head

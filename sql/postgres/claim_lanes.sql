-- Differs because it finds all lanes of each scope (a handler, or a handler and a shard) at once, and not one: when their first task is due, and the
-- time.
-- From one lane to the next by the index: of the tasks of a lane only the first is read.
WITH RECURSIVE scope AS (
  {rows SELECT CAST(:at AS bigint) AS number, CAST(:handler AS varchar) AS handler, CAST(:shard AS integer) AS shard}
), lane AS (
  SELECT number, scope.handler, scope.shard, head.priority, head.due_at
  FROM scope CROSS JOIN LATERAL (
    SELECT priority, due_at FROM tp_pending AS task
    WHERE task.handler = scope.handler {if_shards AND task.shard = scope.shard {but_0 AND task.shard <> 0}}
    ORDER BY priority, due_at LIMIT 1) AS head
  UNION ALL
  SELECT number, lane.handler, lane.shard, head.priority, head.due_at
  FROM lane CROSS JOIN LATERAL (
    SELECT priority, due_at FROM tp_pending AS task
    WHERE task.handler = lane.handler {if_shards AND task.shard = lane.shard {but_0 AND task.shard <> 0}}
      AND task.priority > lane.priority
    ORDER BY priority, due_at LIMIT 1) AS head
)
SELECT number, priority, due_at, {now} AS now_ms FROM lane

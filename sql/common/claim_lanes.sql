-- The first lane from :priority on of each scope (a handler, or a handler and a shard), when its first task is due, the time, and the
-- priority of the scope's last lane. Each MIN and MAX stands alone: most databases look up one end of a range of the index then.
SELECT scope_number, priority, due_at, now_ms, last_priority
FROM (
  {rows SELECT CAST(:at AS DECIMAL(19, 0)) AS scope_number,
         (SELECT MIN(priority) FROM tp_pending WHERE handler = :handler {shards} AND priority >= :priority) AS priority,
         (SELECT MIN(due_at) FROM tp_pending WHERE handler = :handler {shards} AND priority =
           (SELECT MIN(priority) FROM tp_pending WHERE handler = :handler {shards} AND priority >= :priority)) AS due_at,
         {now_number} AS now_ms,
         (SELECT MAX(priority) FROM tp_pending WHERE handler = :handler {shards}) AS last_priority
  FROM tp_meta WHERE name = 'schema'}
) head WHERE due_at IS NOT NULL

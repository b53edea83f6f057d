-- Differs because the first task of a scope is found by ROWNUM. The first lane from :priority on of each scope (a handler, or a handler
-- and a shard), when its first task is due, the time, and the priority of the scope's last lane. The first task of a scope is the first entry of a
-- range of the index, and the last priority is in the last entry: the other tasks of a lane are not read. Conditions compare columns of
-- the index with parameters alone: with a subquery there all of the lane would be read. The whole statement reads as of one time.
SELECT scope_number, priority, due_at, CAST({now} AS DECIMAL(19)) AS now_ms, last_priority
FROM (
  {rows SELECT CAST(:at AS DECIMAL(19)) AS scope_number, priority, due_at,
         CAST((SELECT MAX(priority) FROM tp_pending WHERE handler = :handler {shards}) AS DECIMAL(19)) AS last_priority
  FROM (SELECT priority, due_at FROM tp_pending
        WHERE handler = :handler {shards} AND priority >= :priority
        ORDER BY priority, due_at) WHERE ROWNUM <= 1}
)

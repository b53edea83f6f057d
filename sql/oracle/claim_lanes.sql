-- Differs because the first task of a scope is found by ROWNUM. The first lane from :priority on of each scope (a handler, or a handler
-- and a shard), when its first task is due, the time, and the priority of the scope's last lane. The first task of a scope is the first entry of a range of the index, the last priority the
-- other end of it: what is in a lane is not read. Conditions on what is looked up compare with parameters alone: a subquery
-- there would have all of the lane read. The statement reads at one time, so no lane is seen by halves.
SELECT place, priority, due_at, CAST({now} AS DECIMAL(19)) AS now_ms, last_priority
FROM (
  {rows SELECT CAST(:at AS DECIMAL(19)) AS place, priority, due_at,
         CAST((SELECT MAX(priority) FROM tp_pending WHERE handler = :handler {shards}) AS DECIMAL(19)) AS last_priority
  FROM (SELECT priority, due_at FROM tp_pending
        WHERE handler = :handler {shards} AND priority >= :priority
        ORDER BY priority, due_at) WHERE ROWNUM <= 1}
)

-- Differs because all lanes are found at once: of each scope (a handler, or a handler and a shard), when their first task is due, and the
-- time. Grouped by the columns that the index begins with, so it goes from one lane to the next: what is in a lane is not read. The word grouped says so.
{rows SELECT CAST(:at AS SIGNED) AS number, priority, MIN(due_at) AS due_at,
       {now} AS now_ms
FROM tp_pending WHERE handler = :handler {shards}
GROUP BY {grouped} handler, {if_shards shard,} priority}

-- Differs because it finds all lanes of each scope (a handler, or a handler and a shard) at once, and not one: when their first task is due, and the
-- time. Grouped by the columns that the index begins with, so it goes from one lane to the next: the tasks of a lane are not read. The word grouped says so.
{rows SELECT CAST(:at AS SIGNED) AS number, priority, MIN(due_at) AS due_at,
       {now} AS now_ms
FROM tp_pending WHERE handler = :handler {shards}
GROUP BY {grouped} handler, {if_shards shard,} priority}

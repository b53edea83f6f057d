-- The first due rows of a lane, which nobody else can change: the transaction began IMMEDIATE. Nothing when there is a lane
-- from :ahead on before it, which is more urgent. The driver copies each column three times, so most come in one text, short for most
-- tasks (TPI_ROWS_HELD in src/ops/batch.h); || would make it in more steps than printf.
SELECT biz_key, reason,
       CASE WHEN due_at = created_at AND modified_at = created_at AND state = 'pending' AND shard = 0 AND priority = 0 AND failures = 0
                 AND owner IS NULL AND {bytes params} <= {inline_max}
            THEN printf('%s%c%d,%d,%d/%s', id, char(31), created_at, {now}, max_failures, params)
            ELSE printf('%s%c%d,%d,%d,%d,%d,%d,%d,%d,%d/%s%c%s%c%s', id, char(31), created_at, {now}, max_failures, shard, priority,
                        failures, {bytes params} > {inline_max}, due_at, modified_at, state, char(31), owner, char(31),
                        CASE WHEN {bytes params} <= {inline_max} THEN params END) END AS packed
FROM tp_pending
WHERE {lane} AND due_at <= {now}
  AND NOT EXISTS (SELECT 1 FROM tp_pending AS task WHERE task.handler = :handler
                    AND task.priority >= :ahead AND task.priority < :priority)
ORDER BY due_at, id {first_n_end}

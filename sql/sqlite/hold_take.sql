-- The first due rows of a lane, which nobody else can change: the transaction began IMMEDIATE. Nothing when there is a lane
-- from :ahead on before it, which is more urgent.
SELECT id, NULL AS handler, biz_key,
       {params_if_short params},
       reason, {mostly_pending state}, {mostly_0 shard}, {mostly_0 priority}, {mostly_0 failures},
       max_failures, created_at, {mostly_created due_at},
       {now} AS now_ms, {mostly_created modified_at}, owner
FROM tp_pending
WHERE {lane} AND due_at <= {now}
  AND NOT EXISTS (SELECT 1 FROM tp_pending AS task WHERE task.handler = :handler
                    AND task.priority >= :ahead AND task.priority < :priority)
ORDER BY due_at, id {first_n_end}

-- Many tasks in one statement; the part in rows is repeated, with UNION ALL.
INSERT INTO tp_pending (id, handler, biz_key, dedup_key, params, shard, priority, max_failures, due_at, state, failures,
                        created_at, modified_at)
{rows SELECT {as_id :id} AS id, :handler AS handler, :biz_key AS biz_key, :dedup_key AS dedup_key, :params AS params,
       CAST(:shard AS DECIMAL(10, 0)) AS shard, CAST(:priority AS DECIMAL(5, 0)) AS priority,
       CAST(:max_failures AS DECIMAL(10, 0)) AS max_failures, {as_time {due}} AS due_at,
       'pending' AS state, 0 AS failures, {as_time {value_now}} AS created_at, {as_time {value_now}} AS modified_at
{from_one_row}}

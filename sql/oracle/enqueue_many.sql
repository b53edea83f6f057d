-- Differs because a row of DUAL is short: the clock's function is called by itself, and texts need no cast.
INSERT INTO tp_pending (id, handler, biz_key, dedup_key, params, shard, priority, max_failures, due_at, state, failures,
                        created_at, modified_at)
/*rows*/
SELECT :id AS id, :handler AS handler, :biz_key AS biz_key, :dedup_key AS dedup_key, :params AS params,
       CAST(:shard AS DECIMAL(10)) AS shard, CAST(:priority AS DECIMAL(5)) AS priority,
       CAST(:max_failures AS DECIMAL(10)) AS max_failures,
       COALESCE(CAST(:due_at AS DECIMAL(19)), tp_now() + CAST(:delay_ms AS DECIMAL(19))) AS due_at,
       'pending' AS state, 0 AS failures, tp_now() AS created_at, tp_now() AS modified_at
FROM DUAL
/*end*/

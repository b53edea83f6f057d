-- Differs because the database's clock is read in the statement itself, by the function tp_now. DUAL gives the rows.
INSERT INTO tp_pending (id, handler, biz_key, dedup_key, params, shard, priority, max_failures, due_at, state, failures,
                        created_at, modified_at)
/*rows*/
SELECT :id, :handler, :biz_key, :dedup_key, :params, CAST(:shard AS DECIMAL(10)), CAST(:priority AS DECIMAL(5)),
       CAST(:max_failures AS DECIMAL(10)),
       COALESCE(CAST(:due_at AS DECIMAL(19)), tp_now() + CAST(:delay_ms AS DECIMAL(19))),
       'pending', 0, tp_now(), tp_now()
FROM DUAL
/*end*/

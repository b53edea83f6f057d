-- Differs because the database's clock is read in the statement itself, by the function tp_now.
INSERT INTO tp_pending (id, handler, biz_key, dedup_key, params, shard, priority, state, failures, max_failures,
                        due_at, created_at, modified_at)
VALUES (:id, :handler, :biz_key, :dedup_key, :params, :shard, :priority, 'pending', 0, :max_failures,
        COALESCE(CAST(:due_at AS DECIMAL(19)), tp_now() + CAST(:delay_ms AS DECIMAL(19))),
        tp_now(), tp_now())

-- Differs because the database's clock is read in the statement itself.
INSERT INTO tp_pending (id, handler, biz_key, dedup_key, params, shard, priority, state, failures, max_failures,
                        due_at, created_at, modified_at)
VALUES (:id, :handler, :biz_key, :dedup_key, :params, :shard, :priority, 'pending', 0, :max_failures,
        COALESCE(:due_at, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 + :delay_ms),
        TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000)

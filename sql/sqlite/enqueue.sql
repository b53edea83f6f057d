-- Differs because the database's clock is read in the statement itself. The driver keeps what begins WITH prepared, and its rows are counted.
WITH prepared AS (SELECT 1)
INSERT INTO tp_pending (id, handler, biz_key, dedup_key, params, shard, priority, state, failures, max_failures,
                        due_at, created_at, modified_at)
VALUES (:id, :handler, :biz_key, :dedup_key, :params, :shard, :priority, 'pending', 0, :max_failures,
        COALESCE(CAST(:due_at AS INTEGER), {now_plus delay}),
        {now}, {now})
ON CONFLICT DO NOTHING
RETURNING 1

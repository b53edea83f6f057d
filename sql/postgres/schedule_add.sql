-- Differs because a name that is there must not raise an error, which would spoil the caller's transaction.
INSERT INTO tp_schedule (name, rule, time_zone, handler, params, biz_key, shard, priority, max_failures, missed, missed_max,
                         alone, paused, next_at, created_at, modified_at)
VALUES (:name, :rule, :time_zone, :handler, :params, :biz_key, :shard, :priority, :max_failures, :missed, :missed_max,
        :alone, 0, :next_at, :created_at, :created_at)
ON CONFLICT DO NOTHING

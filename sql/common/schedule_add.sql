-- A new schedule.
INSERT INTO tp_schedule (name, rule, time_zone, handler, params, biz_key, shard, priority, max_failures, missed, missed_max,
                         alone, paused, next_at, created_at, modified_at)
VALUES (:name, :rule, :time_zone, :handler, :params, :biz_key, :shard, :priority, :max_failures, :missed, :missed_max,
        :alone, 0, :next_at, :created_at, :created_at)
{unless_there}

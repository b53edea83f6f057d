-- A new schedule.
INSERT INTO tp_schedule (name, rule, time_zone, handler, params, biz_key, shard, priority, max_failures, missed, missed_max,
                         alone, paused, next_at, calendar, closed, rule_at, fire_at, calendar_version, created_at, modified_at)
VALUES (:name, :rule, :time_zone, :handler, :params, :biz_key, :shard, :priority, :max_failures, :missed, :missed_max,
        :alone, 0, :next_at, :calendar, :closed, :rule_at, :fire_at, :version, :created_at, :created_at)
{unless_there}

-- One schedule.
SELECT name, rule, time_zone, handler, params, biz_key, last_task, missed, shard, priority, max_failures, missed_max, alone,
       paused, COALESCE(fire_at, next_at) AS next_at, last_at, created_at, calendar, closed, rule_at, calendar_version
FROM tp_schedule WHERE name = :name

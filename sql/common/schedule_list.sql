-- All schedules.
SELECT name, rule, time_zone, handler, params, biz_key, last_task, missed, shard, priority, max_failures, missed_max, alone,
       paused, next_at, last_at, created_at
FROM tp_schedule ORDER BY name

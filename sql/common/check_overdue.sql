-- Schedules whose next time is long past. before: the time that is long ago.
SELECT COUNT(*), MIN(name) FROM tp_schedule
WHERE paused = 0 AND COALESCE(fire_at, next_at) > 0 AND COALESCE(fire_at, next_at) <= {as_time :before}

-- Schedules whose next time is long past. before: the time that is long ago.
SELECT COUNT(*), MIN(name) FROM tp_schedule
WHERE paused = 0 AND next_at > 0 AND next_at <= :before

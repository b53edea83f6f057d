-- Schedules that were planned later than it is now. before: a little later than now.
SELECT COUNT(*), MIN(name) FROM tp_schedule WHERE paused = 0 AND modified_at > :before AND modified_at <= 253402300799999

-- The schedules that are due.
SELECT name, {result {now_number}} AS now_ms
FROM tp_schedule WHERE paused = 0 AND next_at <= {now_number}
ORDER BY next_at, name

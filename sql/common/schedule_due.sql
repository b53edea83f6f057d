-- The schedules that are due.
SELECT name, CAST(:now AS DECIMAL(19, 0)) AS now_ms
FROM tp_schedule WHERE paused = 0 AND next_at <= CAST(:now AS DECIMAL(19, 0))
ORDER BY next_at, name

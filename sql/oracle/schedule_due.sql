-- Differs because the database's clock is read in the statement itself, by the function tp_now.
SELECT name, CAST((SELECT tp_now() FROM DUAL) AS DECIMAL(19)) AS now_ms
FROM tp_schedule WHERE paused = 0 AND next_at <= (SELECT tp_now() FROM DUAL)
ORDER BY next_at, name

-- Differs because the database's clock is read in the statement itself, by the function tp_now.
SELECT CAST(CASE WHEN first_at < 0 THEN 0 ELSE first_at END - (SELECT tp_now() FROM DUAL) AS DECIMAL(19)) AS wait_ms
FROM (SELECT MIN(next_at) AS first_at FROM tp_schedule WHERE paused = 0) earliest

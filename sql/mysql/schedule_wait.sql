-- Differs because the database's clock is read in the statement itself.
SELECT CASE WHEN first_at < 0 THEN 0 ELSE first_at END - TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 AS wait_ms
FROM (SELECT MIN(next_at) AS first_at FROM tp_schedule WHERE paused = 0) earliest

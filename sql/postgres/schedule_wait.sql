-- Differs because the database's clock is read in the statement itself.
SELECT CASE WHEN first_at < 0 THEN 0 ELSE first_at END - CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint) AS wait_ms
FROM (SELECT MIN(next_at) AS first_at FROM tp_schedule WHERE paused = 0) earliest

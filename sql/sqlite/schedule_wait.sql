-- Differs because the database's clock is read in the statement itself.
SELECT CASE WHEN first_at < 0 THEN 0 ELSE first_at END - CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER) AS wait_ms
FROM (SELECT MIN(next_at) AS first_at FROM tp_schedule WHERE paused = 0) earliest

-- Differs because the database's clock is read in the statement itself.
SELECT name, CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER) AS now_ms
FROM tp_schedule WHERE paused = 0 AND next_at <= CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)
ORDER BY next_at, name

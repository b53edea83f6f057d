-- Differs because the database's clock is read in the statement itself.
SELECT name, CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint) AS now_ms
FROM tp_schedule WHERE paused = 0 AND next_at <= CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint)
ORDER BY next_at, name

-- Differs because the database's clock is read in the statement itself.
SELECT first_at - CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint) AS wait_ms
FROM (SELECT MIN(next_at) AS first_at FROM tp_schedule WHERE paused = 0) earliest

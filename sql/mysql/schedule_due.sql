-- Differs because the database's clock is read in the statement itself.
SELECT name, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 AS now_ms
FROM tp_schedule WHERE paused = 0 AND next_at <= TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000
ORDER BY next_at, name

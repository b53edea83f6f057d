-- Differs because the database's clock is read in the statement itself.
SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 AS now_ms FROM tp_meta WHERE name = 'schema'

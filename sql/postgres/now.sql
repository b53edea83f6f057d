-- Differs because the database's clock is read in the statement itself.
SELECT CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint) AS now_ms FROM tp_meta WHERE name = 'schema'

-- The database's clock: milliseconds since 1970 UTC.
SELECT CAST(:now AS DECIMAL(19, 0)) AS now_ms FROM tp_meta WHERE name = 'schema'

-- The database's clock: milliseconds since 1970 UTC.
SELECT {result {now_number}} AS now_ms FROM tp_meta WHERE name = 'schema'

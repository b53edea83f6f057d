-- Differs because the database's clock is read in the statement itself.
SELECT CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER) AS now_ms FROM tp_meta WHERE name = 'schema'

-- The database's clock, for operations that need one time for several statements.
SELECT CAST(:now AS DECIMAL(19, 0)) FROM tp_meta WHERE name = 'schema'

-- Differs because the database's clock is read in the statement itself, by the function tp_now.
SELECT tp_now() AS now_ms FROM tp_meta WHERE name = 'schema'

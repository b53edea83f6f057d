-- Differs because the database's clock is read in the statement itself, by the function tp_now.
SELECT tp_now() FROM tp_meta WHERE name = 'schema'

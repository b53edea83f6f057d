-- Differs because the database's clock is read in the statement itself, by the function tp_now.
SELECT CAST((SELECT tp_now() FROM DUAL) AS DECIMAL(19)) AS now_ms FROM tp_meta WHERE name = 'schema'

-- Differs because the driver prepares a deletion each time it runs, but keeps what begins WITH; its rows are counted.
WITH prepared AS (SELECT 1)
DELETE FROM tp_pending WHERE id = :id AND state = 'handling' AND owner = :token
RETURNING 1

-- Differs because the driver prepares a deletion each time it runs, but keeps what begins WITH; its rows are counted.
WITH prepared AS (SELECT 1)
DELETE FROM tp_pending WHERE id = :id AND state = :state AND due_at = :due_at AND modified_at = :modified_at
RETURNING 1

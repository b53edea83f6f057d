-- A longer lease, never a shorter one, for who needs more time. Row count 0: the claim is lost; stop, and write nothing.
-- The clock is the database's: :now is what SELECT CURRENT_TIMESTAMP gave, in milliseconds since 1970 UTC.
UPDATE tp_pending
SET due_at = CASE WHEN CAST(:now AS DECIMAL(19, 0)) + CAST(:lease_ms AS DECIMAL(19, 0)) > due_at
                  THEN CAST(:now AS DECIMAL(19, 0)) + CAST(:lease_ms AS DECIMAL(19, 0)) ELSE due_at + 1 END,
    modified_at = CAST(:now AS DECIMAL(19, 0))
WHERE id = :id AND state = 'handling' AND owner = :token;

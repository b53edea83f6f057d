-- A longer lease, never a shorter one, for who needs more time. Row count 0: the claim is lost; stop, and write nothing.
UPDATE tp_pending
SET due_at = CASE WHEN CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER) + :lease_ms > due_at
                  THEN CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER) + :lease_ms ELSE due_at + 1 END,
    modified_at = CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)
WHERE id = :id AND state = 'handling' AND owner = :token;

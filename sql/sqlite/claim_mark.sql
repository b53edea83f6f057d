-- Marks the row that claim_lock locked. The driver keeps what begins WITH prepared, and its rows are counted.
WITH prepared AS (SELECT 1)
UPDATE tp_pending SET state = 'handling', failures = :failures, reason = :reason, owner = :token,
       due_at = CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER) + :lease_ms,
       modified_at = CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)
WHERE id = :id
RETURNING 1

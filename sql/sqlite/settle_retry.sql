-- Differs because the database's clock is read in the statement itself.
UPDATE tp_pending SET state = 'failed', failures = :failures, reason = :reason,
       due_at = CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER) + :delay_ms,
       modified_at = CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)
WHERE id = :id AND state = 'handling' AND owner = :token

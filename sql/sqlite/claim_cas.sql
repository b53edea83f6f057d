-- Differs because the database's clock is read in the statement itself.
UPDATE tp_pending SET state = 'handling', failures = :failures, reason = :reason, owner = :token,
       due_at = CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER) + :lease_ms,
       modified_at = CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)
WHERE id = :id AND state = :state AND due_at = :due_at AND failures = :seen_failures
  AND modified_at = :modified_at

-- Differs because the database's clock is read in the statement itself.
UPDATE tp_pending SET state = 'handling', failures = :failures, reason = :reason, owner = :token,
       due_at = CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint) + CAST(:lease_ms AS bigint),
       modified_at = CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint)
WHERE id = :id AND state = :state AND due_at = :due_at AND failures = :seen_failures
  AND modified_at = :modified_at

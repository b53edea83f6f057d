-- Marks the row that claim_lock locked.
UPDATE tp_pending SET state = 'handling', failures = :failures, reason = :reason, owner = :token,
       due_at = CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint) + CAST(:lease_ms AS bigint),
       modified_at = CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint)
WHERE id = :id

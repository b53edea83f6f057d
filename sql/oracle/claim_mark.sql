-- Marks the row that claim_lock locked.
UPDATE tp_pending SET state = 'handling', failures = :failures, reason = :reason, owner = :token,
       due_at = (SELECT tp_now() FROM DUAL) + :lease_ms,
       modified_at = (SELECT tp_now() FROM DUAL)
WHERE id = :id

-- Marks the row that claim_lock locked.
UPDATE tp_pending SET state = 'handling', failures = :failures, reason = :reason, owner = :token,
       due_at = tp_now() + :lease_ms,
       modified_at = tp_now()
WHERE id = :id

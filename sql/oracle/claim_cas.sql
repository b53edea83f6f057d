-- Differs because the database's clock is read in the statement itself, by the function tp_now.
UPDATE tp_pending SET state = 'handling', failures = :failures, reason = :reason, owner = :token,
       due_at = (SELECT tp_now() FROM DUAL) + :lease_ms,
       modified_at = (SELECT tp_now() FROM DUAL)
WHERE id = :id AND state = :state AND due_at = :due_at AND failures = :seen_failures
  AND modified_at = :modified_at

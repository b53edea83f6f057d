-- An operator makes tasks pending, in their pool. The owner is taken out, so that whoever held a task finds that the claim is lost.
UPDATE tp_pending SET state = :to_state, failures = COALESCE(CAST(:failures AS DECIMAL(10, 0)), failures), owner = NULL,
       reason = COALESCE(:reason, reason), due_at = :at, wanted_at = NULL, modified_at = :at
WHERE id IN (:ids) AND state = :state

-- A lapsed lease met by plan hold counts as a failure, once this transaction commits. modified_at: the database's time
-- when the row was locked.
UPDATE tp_pending SET state = 'failed', failures = :failures, reason = :reason, owner = NULL, wanted_at = NULL, modified_at = :modified_at
WHERE id = :id AND state = 'handling' AND due_at = :due_at

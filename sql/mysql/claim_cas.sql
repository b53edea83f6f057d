-- Differs because the database's clock is read in the statement itself.
UPDATE tp_pending SET state = 'handling', failures = :failures, reason = :reason, owner = :token,
       due_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 + :lease_ms,
       modified_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000
WHERE id = :id AND state = :state AND due_at = :due_at AND failures = :seen_failures
  AND modified_at = :modified_at

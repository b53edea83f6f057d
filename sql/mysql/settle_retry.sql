-- Differs because the database's clock is read in the statement itself.
UPDATE tp_pending SET state = 'failed', failures = :failures, reason = :reason,
       due_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 + :delay_ms,
       modified_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000
WHERE id = :id AND state = 'handling' AND owner = :token

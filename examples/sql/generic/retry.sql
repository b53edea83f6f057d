-- Settle, failed and due again in :delay_ms: the state is failed, with its number of failures. Never in the transaction of an effect:
-- roll that back first. Row count 1: stored, commit. 0: it was the last try, then fail.sql answers 1; or the claim is lost.
-- The clock is the database's: :now is what SELECT CURRENT_TIMESTAMP gave, in milliseconds since 1970 UTC.
UPDATE tp_pending SET state = 'failed', failures = failures + 1, reason = :reason,
       wanted_at = NULL,
       due_at = CAST(:now AS DECIMAL(19, 0)) + CAST(:delay_ms AS DECIMAL(19, 0)),
       modified_at = CAST(:now AS DECIMAL(19, 0))
WHERE id = :id AND state = 'handling' AND owner = :token
  AND failures + 1 < COALESCE(max_failures, CAST(:max_failures AS integer));

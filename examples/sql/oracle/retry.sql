-- Settle, failed and due again in :delay_ms: the state is failed, with its number of failures. Never in the transaction of an effect:
-- roll that back first. Row count 1: stored, commit. 0: it was the last try, then fail.sql answers 1; or the claim is lost.
UPDATE tp_pending SET state = 'failed', failures = failures + 1, reason = :reason,
       wanted_at = NULL,
       due_at = (SELECT tp_now() FROM DUAL) + :delay_ms,
       modified_at = (SELECT tp_now() FROM DUAL)
WHERE id = :id AND state = 'handling' AND owner = :token
  AND failures + 1 < COALESCE(max_failures, :max_failures);

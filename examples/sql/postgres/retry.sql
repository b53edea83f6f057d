-- Settle, failed and due again in :delay_ms: the state is failed, with its number of failures. Never in the transaction of an effect:
-- roll that back first. Row count 1: stored, commit. 0: it was the last try, then fail.sql answers 1; or the claim is lost.
UPDATE tp_pending SET state = 'failed', failures = failures + 1, reason = CAST(:reason AS varchar),
       wanted_at = NULL,
       due_at = CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint) + CAST(:delay_ms AS bigint),
       modified_at = CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint)
WHERE id = CAST(:id AS uuid) AND state = 'handling' AND owner = CAST(:token AS uuid)
  AND failures + 1 < COALESCE(max_failures, CAST(:max_failures AS integer));

-- Settle, failed for good: to the pool where a person looks. :counted is 1 after a try that failed, 0 for a task that claim_read called
-- exhausted. Never in the transaction of an effect: roll that back first.
-- Two statements in one transaction: copy, delete. Row count 1 of both: yours, commit. Anything else: the claim is lost; roll back,
-- and with it the effect.
INSERT INTO tp_failed (id, handler, biz_key, dedup_key, params, shard, priority, state, failures, max_failures, reason, owner,
                         due_at, created_at, modified_at, settled_at)
SELECT id, handler, biz_key, dedup_key, params, shard, priority, 'failed', failures + :counted, max_failures,
       COALESCE(:reason, reason), owner, COALESCE(wanted_at, due_at), created_at,
       (SELECT tp_now() FROM DUAL),
       (SELECT tp_now() FROM DUAL)
FROM tp_pending WHERE id = :id AND state = 'handling' AND owner = :token;

DELETE FROM tp_pending WHERE id = :id AND state = 'handling' AND owner = :token;

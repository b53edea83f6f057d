-- Settle, done or skipped (:state), in the transaction of the effect.
-- Two statements in one transaction: copy, delete. Row count 1 of both: yours, commit. Anything else: the claim is lost; roll back,
-- and with it the effect.
INSERT INTO tp_finished (id, handler, biz_key, dedup_key, params, shard, priority, state, failures, max_failures, reason, owner,
                         due_at, created_at, modified_at, settled_at)
SELECT id, handler, biz_key, dedup_key, params, shard, priority, :state, failures, max_failures,
       COALESCE(:reason, reason), owner, COALESCE(wanted_at, due_at), created_at,
       (SELECT tp_now() FROM DUAL),
       (SELECT tp_now() FROM DUAL)
FROM tp_pending WHERE id = :id AND state = 'handling' AND owner = :token;

DELETE FROM tp_pending WHERE id = :id AND state = 'handling' AND owner = :token;

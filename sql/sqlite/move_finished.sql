-- Differs because the database's clock is read in the statement itself. The driver keeps what begins WITH prepared, and its rows are counted.
WITH prepared AS (SELECT 1)
INSERT INTO tp_finished (id, handler, biz_key, dedup_key, params, shard, priority, state, failures, max_failures, reason, owner,
                         due_at, created_at, modified_at, settled_at)
SELECT id, handler, biz_key, dedup_key, params, shard, priority, :state, failures, max_failures,
       COALESCE(:reason, reason), owner, due_at, created_at, {now}, {now}
FROM tp_pending WHERE id = :id AND state = 'handling' AND owner = :token
RETURNING 1

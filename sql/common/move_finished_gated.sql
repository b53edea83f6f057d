-- As move_finished, of a task behind a gate, on every database: the row is locked by then, and the gate's row comes next.
INSERT INTO tp_finished (id, handler, biz_key, dedup_key, params, shard, priority, state, failures, max_failures, reason, owner,
                         due_at, created_at, modified_at, settled_at, gate)
SELECT id, handler, biz_key, dedup_key, params, shard, priority, :state, failures, max_failures,
       COALESCE(:reason, reason), owner, COALESCE(wanted_at, due_at), created_at, {now}, {now}, gate
FROM tp_pending WHERE id = :id AND state = 'handling' AND owner = :token

-- The first half of a move to the finished pool: the row is copied, if the token holds it.
-- One behind a gate is passed over: move_finished_gated.
{prepared}
INSERT INTO tp_finished (id, handler, biz_key, dedup_key, params, shard, priority, state, failures, max_failures, reason, owner,
                         due_at, created_at, modified_at, settled_at)
SELECT id, handler, biz_key, dedup_key, params, shard, priority, :state, failures, max_failures,
       COALESCE(:reason, reason), owner, COALESCE(wanted_at, due_at), created_at, {now}, {now}
FROM tp_pending WHERE id = :id AND state = 'handling' AND owner = :token AND gate IS NULL
{prepared_end}

-- The first half of the move of a task that this transaction has locked, if its row is as it was then.
{prepared}
INSERT INTO tp_finished (id, handler, biz_key, dedup_key, params, shard, priority, state, failures, max_failures, reason, owner,
                         due_at, created_at, modified_at, settled_at)
SELECT id, handler, biz_key, dedup_key, params, shard, priority, 'done', failures, max_failures,
       reason, :token, due_at, created_at, {now}, {now}
FROM tp_pending WHERE id = :id AND state = :state AND due_at = :due_at AND modified_at = :modified_at AND gate IS NULL
{prepared_end}

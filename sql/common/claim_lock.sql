-- Locks one row or is refused at once, and reads it for the recheck under the lock.
SELECT id, handler, biz_key,
       {params_if_short params},
       reason, state, shard, priority, failures, max_failures, created_at, due_at,
       {result {now_number}} AS now_ms, modified_at, owner
FROM tp_pending WHERE id = :id {lock_nowait}

-- Locks those of the given tasks that are still due and that no other session locks, and reads them, in some databases as they were before
-- the lock: claim_mark_many looks again. It sets no limit: a database that counts rows before it skips locked ones would find too few.
SELECT id, handler, biz_key,
       {params_if_short params},
       reason, state, shard, priority, failures, max_failures, created_at, due_at,
       {result {now_once}} AS now_ms, modified_at, owner
FROM tp_pending {by_primary_key} WHERE {among_ids id} AND due_at <= {now}
ORDER BY priority, due_at, id {lock_skip}

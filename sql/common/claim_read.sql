-- Reads the tasks that a claim took, by its token.
SELECT id, handler, biz_key,
       {params_if_short params},
       reason, state, {mostly_0 shard}, {mostly_0 priority}, {mostly_0 failures}, max_failures, due_at, created_at, wanted_at
FROM tp_pending WHERE owner = :token AND state = 'handling' ORDER BY priority, id

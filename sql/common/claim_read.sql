-- Reads the tasks that a claim took, by its token.
SELECT id, handler, biz_key,
       {params_if_short params},
       reason, {state_of_taken} AS state, {mostly_0 shard}, {mostly_0 priority}, {mostly_0 failures}, max_failures, created_at, due_at, {mostly_created wanted_at}
FROM tp_pending WHERE owner = :token AND state = 'handling' ORDER BY priority, id

-- What a claim took, by its token.
SELECT id, handler, biz_key,
       CASE WHEN LENGTH(params) <= CAST(:inline_max AS DECIMAL(19, 0)) THEN params END AS params,
       CASE WHEN LENGTH(params) > CAST(:inline_max AS DECIMAL(19, 0)) THEN 1 ELSE 0 END AS long_params,
       reason, state, shard, priority, failures, max_failures, due_at, created_at
FROM tp_pending WHERE owner = :token AND state = 'handling' ORDER BY priority, id

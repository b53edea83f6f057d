-- Differs because the length of text in bytes is asked for in this database's way.
SELECT id, handler, biz_key,
       CASE WHEN LENGTH(CAST(params AS BLOB)) <= CAST(:inline_max AS INTEGER) THEN params END AS params,
       CASE WHEN LENGTH(CAST(params AS BLOB)) > CAST(:inline_max AS INTEGER) THEN 1 ELSE 0 END AS long_params,
       reason, state, shard, priority, failures, max_failures, due_at, created_at
FROM tp_pending WHERE owner = :token AND state = 'handling' ORDER BY priority, id

-- Differs because the length of text in bytes is asked for in this database's way. The driver makes text of each number, and
-- not of NULL, which is read as 0.
SELECT id, handler, biz_key,
       CASE WHEN LENGTH(CAST(params AS BLOB)) <= CAST(:inline_max AS INTEGER) THEN params END AS params,
       CASE WHEN LENGTH(CAST(params AS BLOB)) > CAST(:inline_max AS INTEGER) THEN 1 END AS long_params,
       reason, state, NULLIF(shard, 0), NULLIF(priority, 0), NULLIF(failures, 0),
       max_failures, due_at, created_at
FROM tp_pending WHERE owner = :token AND state = 'handling' ORDER BY priority, id

-- Differs because the database can end the page itself, and takes a COALESCE for so selective that it would sort all.
SELECT id, handler, biz_key,
       CASE WHEN octet_length(params) <= CAST(:inline_max AS integer) THEN params END AS params,
       CASE WHEN octet_length(params) > CAST(:inline_max AS integer) THEN 1 ELSE 0 END AS long_params,
       reason, state, shard, priority, failures, max_failures, due_at, created_at,
       dedup_key, owner, modified_at, 0 AS settled_at
FROM tp_pending
WHERE biz_key = :biz_key AND id > :after_id
  AND (CAST(:handler AS varchar) IS NULL OR handler = CAST(:handler AS varchar))
  AND (CAST(:state AS varchar) IS NULL OR state = CAST(:state AS varchar))
ORDER BY id
LIMIT CAST(:limit AS integer)

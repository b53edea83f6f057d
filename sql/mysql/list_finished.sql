-- Differs because the database can end the page itself.
SELECT id, handler, biz_key,
       CASE WHEN LENGTH(params) <= :inline_max THEN params END AS params,
       CASE WHEN LENGTH(params) > :inline_max THEN 1 ELSE 0 END AS long_params,
       reason, state, shard, priority, failures, max_failures, due_at, created_at,
       dedup_key, owner, modified_at, settled_at AS settled_at
FROM tp_finished
WHERE id > :after_id AND handler = COALESCE(:handler, handler) AND state = COALESCE(:state, state)
ORDER BY id
LIMIT :limit

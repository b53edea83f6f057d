-- A page of the pending pool about one business row, by the index on biz_key; the library stops reading at its limit.
SELECT id, handler, biz_key,
       CASE WHEN LENGTH(params) <= CAST(:inline_max AS DECIMAL(19, 0)) THEN params END AS params,
       CASE WHEN LENGTH(params) > CAST(:inline_max AS DECIMAL(19, 0)) THEN 1 ELSE 0 END AS long_params,
       reason, state, shard, priority, failures, max_failures, due_at, created_at,
       dedup_key, owner, modified_at, 0 AS settled_at
FROM tp_pending
WHERE biz_key = :biz_key AND id > :after_id AND handler = COALESCE(:handler, handler) AND state = COALESCE(:state, state)
ORDER BY id

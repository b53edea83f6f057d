-- Differs because the page ends by ROWNUM, counted after the order.
SELECT * FROM (
SELECT id, handler, biz_key,
       CASE WHEN LENGTH(params) <= 1000 THEN CAST(params AS VARCHAR(4000)) END AS params,
       CASE WHEN LENGTH(params) > 1000 THEN 1 ELSE 0 END AS long_params,
       reason, state, shard, priority, failures, max_failures, due_at, created_at,
       dedup_key, owner, modified_at, settled_at AS settled_at
FROM tp_failed
WHERE id > :after_id AND handler = COALESCE(:handler, handler) AND state = COALESCE(:state, state)
ORDER BY id
) WHERE ROWNUM <= :limit

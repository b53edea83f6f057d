-- Differs because a CLOB is fetched by itself, row for row: what is short comes as text, and the longest text has 4,000 bytes.
SELECT id, handler, biz_key,
       CASE WHEN LENGTH(params) <= 1000 THEN CAST(params AS VARCHAR(4000)) END AS params,
       CASE WHEN LENGTH(params) > 1000 THEN 1 ELSE 0 END AS long_params,
       reason, state, shard, priority, failures, max_failures, due_at, created_at
FROM tp_pending WHERE owner = :token AND state = 'handling' ORDER BY priority, id

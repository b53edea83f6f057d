-- The recheck under the lock: the transaction began IMMEDIATE, so it is the only writer.
SELECT id, handler, biz_key,
       CASE WHEN LENGTH(CAST(params AS BLOB)) <= CAST(:inline_max AS INTEGER) THEN params END AS params,
       CASE WHEN LENGTH(CAST(params AS BLOB)) > CAST(:inline_max AS INTEGER) THEN 1 ELSE 0 END AS long_params,
       reason, state, shard, priority, failures, max_failures, due_at, created_at,
       {now} AS now_ms, modified_at, owner
FROM tp_pending WHERE id = :id

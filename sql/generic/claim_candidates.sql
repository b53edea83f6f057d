-- Differs because there are no words for the first n tasks of a lane: what waits, or is of another lane, is not read, and the library stops
-- reading at its limit.
/*rows*/
SELECT id, handler, biz_key,
       CASE WHEN LENGTH(params) <= CAST(:inline_max AS DECIMAL(19, 0)) THEN params END AS params,
       CASE WHEN LENGTH(params) > CAST(:inline_max AS DECIMAL(19, 0)) THEN 1 ELSE 0 END AS long_params,
       reason, state, shard, priority, failures, max_failures, due_at, created_at,
       {now_number} AS now_ms, modified_at, owner
FROM tp_pending WHERE {lane} AND due_at <= {now}
/*end*/
ORDER BY priority, due_at, id

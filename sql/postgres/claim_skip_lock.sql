-- Locks the picked rows past those that others hold, and rechecks them under the lock. The ids come as one document:
-- for a list the planner reads all of a pool that is small when it looks.
SELECT id, handler, biz_key,
       CASE WHEN octet_length(params) <= CAST(:inline_max AS integer) THEN params END AS params,
       CASE WHEN octet_length(params) > CAST(:inline_max AS integer) THEN 1 ELSE 0 END AS long_params,
       reason, state, shard, priority, failures, max_failures, due_at, created_at,
       (SELECT {now}) AS now_ms, modified_at, owner
FROM tp_pending
WHERE id = ANY (ARRAY(SELECT CAST(value AS uuid) FROM json_array_elements_text(CAST(:ids_document AS json)) AS list (value)))
  AND due_at <= {now}
ORDER BY priority, due_at, id FOR UPDATE SKIP LOCKED

-- Locks the picked rows past those that others hold, and rechecks them under the lock. No ROWNUM here: it would count
-- rows before they are skipped.
SELECT id, handler, biz_key,
       CASE WHEN LENGTH(params) <= 1000 THEN CAST(params AS VARCHAR(4000)) END AS params,
       CASE WHEN LENGTH(params) > 1000 THEN 1 ELSE 0 END AS long_params,
       reason, state, shard, priority, failures, max_failures, due_at, created_at,
       CAST({now} AS DECIMAL(19)) AS now_ms, modified_at, owner
FROM tp_pending WHERE id IN (:ids) AND due_at <= {now}
ORDER BY priority, due_at, id FOR UPDATE SKIP LOCKED

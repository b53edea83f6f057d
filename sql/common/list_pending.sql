-- A page of the pending pool.
{first_n}
SELECT id, handler, biz_key,
       CASE WHEN {bytes params} <= {inline_max} THEN {inline params} END AS params,
       CASE WHEN {bytes params} > {inline_max} THEN 1 ELSE 0 END AS long_params,
       reason, state, shard, priority, failures, max_failures, due_at, created_at,
       dedup_key, owner, modified_at, 0 AS settled_at
FROM tp_pending
WHERE id > :after_id AND {given handler} AND {given state}
ORDER BY id
{first_n_end}

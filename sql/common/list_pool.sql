-- A page of the {pool} pool.
{first_n}
SELECT id, handler, biz_key,
       {params_if_short params},
       reason, state, shard, priority, failures, max_failures, due_at, created_at,
       dedup_key, owner, modified_at, {settled_at} AS settled_at
FROM tp_{pool}
WHERE id > :after_id AND {given handler} AND {given state}
ORDER BY id
{first_n_end}

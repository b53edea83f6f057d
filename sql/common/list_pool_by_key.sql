-- A page of the {pool} pool about one business row, by the index on biz_key.
{first_n}
SELECT id, handler, biz_key,
       {params_if_short params},
       reason, state, shard, priority, failures, max_failures, due_at, created_at,
       dedup_key, owner, modified_at, {settled_at} AS settled_at
FROM tp_{pool}
WHERE biz_key = :biz_key AND id > :after_id AND {given handler} AND {given state}
ORDER BY id
{first_n_end}

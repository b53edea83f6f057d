-- A page of the {pool} pool.
{first_n}
SELECT {list_columns}, {settled_at} AS settled_at, gate, {deadline_at} AS deadline_at
FROM tp_{pool}
WHERE {by_id}
ORDER BY id
{first_n_end}

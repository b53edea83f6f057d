-- Tasks of the {pool} pool to be deleted, the oldest first.
{first_n}
SELECT id FROM tp_{pool}
WHERE {given state} AND {given handler}
  AND {given_reason} AND settled_at <= :before
ORDER BY settled_at
{first_n_end}

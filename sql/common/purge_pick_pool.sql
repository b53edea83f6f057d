-- Tasks of the {pool} pool to be deleted, the oldest first.
{first_n}
SELECT id FROM tp_{pool}
WHERE {given state} AND {given handler}
  AND {given_reason} AND {given_or_null dedup_key} AND {given_owner}
  AND settled_at >= :since AND settled_at <= :before
ORDER BY settled_at
{first_n_end}

-- Tasks of the {pool} pool that an operator selected, in the order of their ids.
{first_n}
SELECT id, handler, owner, reason, gate, due_at FROM tp_{pool}
WHERE id > :after_id AND state = :state AND {given handler}
  AND {given_reason} AND {given_or_null dedup_key} AND {given_owner}
  AND modified_at >= :since AND modified_at <= :before
ORDER BY id
{first_n_end}

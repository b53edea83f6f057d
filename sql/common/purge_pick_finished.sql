-- Tasks of the finished pool to be deleted, the oldest first.
{first_n}
SELECT id FROM tp_finished
WHERE {given state} AND {given handler}
  AND {given_reason} AND settled_at <= :before
ORDER BY settled_at
{first_n_end}

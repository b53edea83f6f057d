-- Locks tasks of one lane, past those that other claims have locked, and marks them in one statement, the picked rows first, so that no other row is touched;
-- claim_read reads it back. What SET needs of the old row comes from the inner select, because the order of
-- assignments in a joined UPDATE is not promised.
-- The index is forced, that of shards where shards are asked for: the server may prefer to read and sort the whole pool, and lock it.
UPDATE (SELECT id, failures + CASE WHEN state = 'handling' AND failures < 2147483647 THEN 1 ELSE 0 END AS next_failures,
             {lapsed_reason} AS next_reason, due_at
      FROM tp_pending {by_lane}
      WHERE {lane} AND {due_since}
      ORDER BY due_at, id {first_n_end} {lock_skip}) AS picked
STRAIGHT_JOIN tp_pending AS task {by_primary_key} ON task.id = picked.id
SET task.failures = picked.next_failures, task.reason = picked.next_reason, task.state = 'handling', task.owner = :token, task.wanted_at = picked.due_at,
    task.due_at = {now_plus lease},
    task.modified_at = {now}

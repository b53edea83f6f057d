-- Takes the first n of a lane in one UPDATE, past what others hold: waiting for them would lock rows in the state they are in by then,
-- claimed and about to be settled, and deadlock with those settles. The array is read once, so the limit holds.
UPDATE tp_pending SET failures = failures + CASE WHEN state = 'handling' AND failures < 2147483647 THEN 1 ELSE 0 END,
       reason = {lapsed_reason},
       state = 'handling', owner = CAST(:token AS uuid),
       wanted_at = due_at,
       due_at = {now_once_plus lease},
       modified_at = {now_once}
WHERE id = ANY (ARRAY(
        SELECT id FROM tp_pending WHERE {lane}
          AND {due_since}
        ORDER BY due_at, id {first_n_end} {lock_skip}))
  AND due_at <= {now}

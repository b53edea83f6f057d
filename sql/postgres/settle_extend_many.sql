-- Differs because the rows are locked in the order of their ids, or sessions that settle or extend the same tasks would deadlock. The ids come as one
-- JSON document, so that one plan serves any number; IS TRUE keeps the planner from the index of owner, by which all tasks of the claim would be read.
UPDATE tp_pending
SET due_at = CASE WHEN {now_once_plus lease} > due_at
                  THEN {now_once_plus lease}
                  ELSE due_at + 1 END,
    modified_at = {now_once}
WHERE id = ANY (ARRAY(
        SELECT id FROM tp_pending
        WHERE {among_ids id}
          AND state = 'handling' AND {not_by_index owner = :token} ORDER BY id FOR UPDATE))
  AND state = 'handling' AND {not_by_index owner = :token}

-- Differs because the rows are locked in the order of their
-- ids: sessions that mind the same tasks would deadlock. The ids come as one JSON document,
-- so that the plan hangs on no count; IS TRUE keeps the index of owner out, by which all that the claim holds would be read.
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

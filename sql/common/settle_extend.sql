-- A longer lease; never a shorter one. due_at always changes, so that drivers that count changed rows count 1.
UPDATE tp_pending
SET due_at = CASE WHEN {now_plus lease} > due_at
                  THEN {now_plus lease}
                  ELSE due_at + 1 END,
    modified_at = {now}
WHERE id = :id AND state = 'handling' AND {not_by_index owner = :token}

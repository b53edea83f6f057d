-- Longer leases; never a shorter one. due_at always changes, so that drivers that count changed rows count them all.
UPDATE tp_pending {by_primary_key}
SET due_at = CASE WHEN {now_plus lease} > due_at
                  THEN {now_plus lease}
                  ELSE due_at + 1 END,
    modified_at = {now}
WHERE {among_ids id} AND state = 'handling' AND owner = :token

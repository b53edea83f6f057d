-- Differs because the database's clock is read in the statement itself.
-- IS TRUE keeps the index of owner out: by it, each settle would read all that the claim holds.
UPDATE tp_pending
SET due_at = CASE WHEN {now_plus lease} > due_at
                  THEN {now_plus lease}
                  ELSE due_at + 1 END,
    modified_at = {now}
WHERE id = :id AND state = 'handling' AND (owner = :token) IS TRUE

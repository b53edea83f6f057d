-- Differs because the database's clock is read in the statement itself. The rows are found by the primary key: a scan would
-- lock what it passes.
UPDATE tp_pending FORCE INDEX (PRIMARY)
SET due_at = CASE WHEN {now_plus lease} > due_at
                  THEN {now_plus lease}
                  ELSE due_at + 1 END,
    modified_at = {now}
WHERE id IN (:ids) AND state = 'handling' AND owner = :token

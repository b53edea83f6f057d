-- Differs because the database's clock is read in the statement itself, by the function tp_now.
UPDATE tp_pending
SET due_at = CASE WHEN (SELECT tp_now() FROM DUAL) + :lease_ms > due_at
                  THEN (SELECT tp_now() FROM DUAL) + :lease_ms
                  ELSE due_at + 1 END,
    modified_at = (SELECT tp_now() FROM DUAL)
WHERE id = :id AND state = 'handling' AND owner = :token

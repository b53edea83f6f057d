-- A longer lease, never a shorter one, for who needs more time. Row count 0: the claim is lost; stop, and write nothing.
UPDATE tp_pending
SET due_at = CASE WHEN (SELECT tp_now() FROM DUAL) + :lease_ms > due_at
                  THEN (SELECT tp_now() FROM DUAL) + :lease_ms ELSE due_at + 1 END,
    modified_at = (SELECT tp_now() FROM DUAL)
WHERE id = :id AND state = 'handling' AND owner = :token;

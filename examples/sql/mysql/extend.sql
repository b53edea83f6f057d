-- A longer lease, never a shorter one, for who needs more time. Row count 0: the claim is lost; stop, and write nothing.
UPDATE tp_pending
SET due_at = CASE WHEN TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 + :lease_ms > due_at
                  THEN TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 + :lease_ms ELSE due_at + 1 END,
    modified_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000
WHERE id = :id AND state = 'handling' AND owner = :token;

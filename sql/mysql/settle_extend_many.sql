-- Differs because the database's clock is read in the statement itself. The rows are found by the primary key: a scan would
-- lock what it passes.
UPDATE tp_pending FORCE INDEX (PRIMARY)
SET due_at = CASE WHEN TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 + :lease_ms > due_at
                  THEN TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 + :lease_ms
                  ELSE due_at + 1 END,
    modified_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000
WHERE id IN (:ids) AND state = 'handling' AND owner = :token

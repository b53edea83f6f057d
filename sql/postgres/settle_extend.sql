-- Differs because the database's clock is read in the statement itself.
-- IS TRUE keeps the index of owner out: by it, each settle would read all that the claim holds.
UPDATE tp_pending
SET due_at = CASE WHEN CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint) + CAST(:lease_ms AS bigint) > due_at
                  THEN CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint) + CAST(:lease_ms AS bigint)
                  ELSE due_at + 1 END,
    modified_at = CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint)
WHERE id = :id AND state = 'handling' AND (owner = :token) IS TRUE

-- Differs because the database's clock is read in the statement itself.
-- IS TRUE keeps the index of owner out: by it, each settle would read all that the claim holds.
UPDATE tp_pending SET state = 'pending',
       due_at = CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint) + CAST(:delay_ms AS bigint),
       modified_at = CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint)
WHERE id = :id AND state = 'handling' AND (owner = :token) IS TRUE

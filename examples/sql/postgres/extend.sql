-- A longer lease, never a shorter one, for who needs more time. Row count 0: the claim is lost; stop, and write nothing.
UPDATE tp_pending
SET due_at = CASE WHEN CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint) + CAST(:lease_ms AS bigint) > due_at
                  THEN CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint) + CAST(:lease_ms AS bigint) ELSE due_at + 1 END,
    modified_at = CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint)
WHERE id = CAST(:id AS uuid) AND state = 'handling' AND owner = CAST(:token AS uuid);

-- Differs because the database's clock is read in the statement itself, and the ids come as one JSON document.
UPDATE tp_pending
SET due_at = CASE WHEN CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER) + :lease_ms > due_at
                  THEN CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER) + :lease_ms
                  ELSE due_at + 1 END,
    modified_at = CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)
WHERE id IN (SELECT value FROM json_each(:ids_document)) AND state = 'handling' AND owner = :token

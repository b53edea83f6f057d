-- Differs because the database's clock is read in the statement itself. The rows are locked in the order of their
-- ids: sessions that mind the same tasks would deadlock. The ids come as one JSON document,
-- so that the plan hangs on no count; IS TRUE keeps the index of owner out, by which all that the claim holds would be read.
UPDATE tp_pending
SET due_at = CASE WHEN (SELECT {now}) + CAST(:lease_ms AS bigint) > due_at
                  THEN (SELECT {now}) + CAST(:lease_ms AS bigint)
                  ELSE due_at + 1 END,
    modified_at = (SELECT {now})
WHERE id = ANY (ARRAY(
        SELECT id FROM tp_pending
        WHERE id = ANY (ARRAY(SELECT CAST(value AS uuid) FROM json_array_elements_text(CAST(:ids_document AS json)) AS list (value)))
          AND state = 'handling' AND (owner = :token) IS TRUE ORDER BY id FOR UPDATE))
  AND state = 'handling' AND (owner = :token) IS TRUE

-- Marks the rows that claim_skip_lock locked.
UPDATE tp_pending SET failures = failures + CASE WHEN state = 'handling' AND failures < 2147483647 THEN 1 ELSE 0 END,
       reason = CASE WHEN state = 'handling' THEN 'lease lapsed, held by ' || COALESCE(CAST(owner AS varchar), 'nobody')
            WHEN reason LIKE 'lease lapsed, held by %' THEN LEFT('earlier: ' || reason, 512)
            ELSE reason END,
       state = 'handling', owner = CAST(:token AS uuid),
       due_at = (SELECT {now}) + CAST(:lease_ms AS bigint),
       modified_at = (SELECT {now})
WHERE id = ANY (ARRAY(SELECT CAST(value AS uuid) FROM json_array_elements_text(CAST(:ids_document AS json)) AS list (value)))

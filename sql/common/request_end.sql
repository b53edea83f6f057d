-- Ends a request. What may be private does not stay, nor a digest of it.
UPDATE tp_request SET state = :to_state, done = :done, decided_by = :who, decision = :reason, decided_at = {now},
       params = NULL, biz_key = NULL, dedup_key = NULL,
       selection = CASE WHEN selection LIKE '%key_digest=%' THEN NULL ELSE selection END
WHERE id = :id AND state = :state

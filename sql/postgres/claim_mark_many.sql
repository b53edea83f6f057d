-- Differs because it only marks rows that claim_skip_lock locked, which read them as they were then: they are due still.
UPDATE tp_pending SET failures = failures + CASE WHEN state = 'handling' AND failures < 2147483647 THEN 1 ELSE 0 END,
       reason = {lapsed_reason},
       state = 'handling', owner = CAST(:token AS uuid),
       due_at = {now_once} + CAST(:lease_ms AS bigint),
       modified_at = {now_once}
WHERE {among_ids id}

-- Claim, the second of two statements: reads what claim_take took, by its token. exhausted: its lease lapsed too often, counted by
-- claim_take; do not handle it, run fail.sql with :counted = 0.
SELECT id, biz_key, params, failures, max_failures,
       CASE WHEN failures >= COALESCE(max_failures, :max_failures) THEN 1 ELSE 0 END AS exhausted
FROM tp_pending WHERE owner = :token AND state = 'handling' ORDER BY priority, id;

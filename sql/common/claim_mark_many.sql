-- Claims those of the given tasks that are still due: writes state, token and lease, and counts a failure where an earlier lease lapsed.
-- The rows are those that claim_skip_lock locked and may have read as of an earlier time, or those that claim_pick found: then it waits
-- for whoever locks them. An UPDATE of the first n would lock every row and index entry that it reads, in another order than settles do.
-- Where SET runs from left to right, state comes after what is read from it.
UPDATE tp_pending {by_primary_key} SET failures = failures + CASE WHEN state = 'handling' AND failures < 2147483647 THEN 1 ELSE 0 END,
       reason = {lapsed_reason},
       state = 'handling', owner = :token,
       wanted_at = due_at,
       due_at = {now_once_plus lease},
       modified_at = {now_once}
WHERE {among_ids id} {still_due}

-- Marks those of the given rows that are due still: rows that claim_skip_lock locked (what a query reads past locked rows may be of
-- the time when it began), or picked ones, after waiting for whoever holds them. Taking the first n would lock the rows and index entries
-- that it passes, in another order than settles do. Where SET runs from left to right, state comes after what is read from it.
UPDATE tp_pending {by_primary_key} SET failures = failures + CASE WHEN state = 'handling' AND failures < 2147483647 THEN 1 ELSE 0 END,
       reason = {lapsed_reason},
       state = 'handling', owner = :token,
       due_at = {now_once_plus lease},
       modified_at = {now_once}
WHERE {among_ids id} {still_due}

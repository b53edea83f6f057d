-- Marks those of the given rows that are due still: rows that claim_skip_lock locked, or picked ones, after waiting for whoever
-- holds them. By the primary key, in whose order all claimers lock: one that takes the first n would lock the rows and index
-- entries that it passes, in another order than settles do. SET runs from left to right, so state comes after what is read
-- from it.
UPDATE tp_pending FORCE INDEX (PRIMARY) SET failures = failures + CASE WHEN state = 'handling' AND failures < 2147483647 THEN 1 ELSE 0 END,
       reason = CASE WHEN state = 'handling' THEN CONCAT('lease lapsed, held by ', COALESCE(owner, 'nobody'))
            WHEN reason LIKE 'lease lapsed, held by %' THEN LEFT(CONCAT('earlier: ', reason), 512)
            ELSE reason END,
       state = 'handling', owner = :token,
       due_at = {now_plus lease},
       modified_at = {now}
WHERE id IN (:ids) AND due_at <= {now}

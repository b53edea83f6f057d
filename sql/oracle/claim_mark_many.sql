-- Marks those of the given rows that are due still: rows that claim_skip_lock locked (what a query reads past locked rows is of
-- the time when it began), or picked ones, after waiting for whoever holds them: a restarted UPDATE checks the condition again.
-- An UPDATE of the first n would have to check what its subquery picked once more, and take fewer.
UPDATE tp_pending SET failures = failures + CASE WHEN state = 'handling' AND failures < 2147483647 THEN 1 ELSE 0 END,
       reason = CASE WHEN state = 'handling' THEN 'lease lapsed, held by ' || COALESCE(owner, 'nobody')
            WHEN reason LIKE 'lease lapsed, held by %' THEN 'earlier: ' || SUBSTR(reason, 1, 120)
            ELSE reason END,
       state = 'handling', owner = :token,
       due_at = {now_plus lease},
       modified_at = {now}
WHERE id IN (:ids) AND due_at <= {now}

-- Claim, the first of two statements: takes tasks that are due under a new token, for the time of a lease. A task whose lease
-- lapsed counts a failure. A paused handler has none. A task that was cancelled, or whose deadline has passed, is left to the library.
-- The row count says how many; 0: none is due.
-- Run it in a transaction that began IMMEDIATE, or with autocommit on: then it is the only writer.
UPDATE tp_pending SET failures = failures + CASE WHEN state = 'handling' AND failures < 2147483647 THEN 1 ELSE 0 END,
       reason = CASE WHEN state = 'handling' THEN 'lease lapsed, held by ' || COALESCE(owner, 'nobody')
            WHEN reason LIKE 'lease lapsed, held by %' THEN substr('earlier: ' || reason, 1, 512)
            ELSE reason END,
       state = 'handling', owner = :token,
       wanted_at = due_at,
       due_at = CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER) + :lease_ms,
       modified_at = CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)
WHERE id IN (
        SELECT id FROM tp_pending
        WHERE handler = :handler AND due_at <= CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)
          AND NOT EXISTS (SELECT 1 FROM tp_pause WHERE tp_pause.handler = :handler)
          AND NOT EXISTS (SELECT 1 FROM tp_cancel
                WHERE tp_cancel.task_id = tp_pending.id AND tp_cancel.created_at >= tp_pending.created_at
                  AND tp_cancel.due_at <= CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER))
        ORDER BY priority, due_at, id LIMIT :limit);

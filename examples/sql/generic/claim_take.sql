-- Claim, the first of two statements: takes tasks that are due under a new token, for the time of a lease. A task whose lease
-- lapsed counts a failure. A paused handler has none. A task that was cancelled, or whose deadline has passed, is left to the library.
-- The row count says whether there is one: it takes the most urgent with the lowest id. 0 may mean that another session took it:
-- claim again before you take it for none. READ COMMITTED; commit at once.
-- The clock is the database's: :now is what SELECT CURRENT_TIMESTAMP gave, in milliseconds since 1970 UTC.
UPDATE tp_pending SET failures = failures + CASE WHEN state = 'handling' AND failures < 2147483647 THEN 1 ELSE 0 END,
       reason = CASE WHEN state = 'handling' THEN 'lease lapsed, held by ' || COALESCE(owner, 'nobody')
            WHEN reason LIKE 'lease lapsed, held by %' THEN 'earlier lapse'
            ELSE reason END,
       state = 'handling', owner = :token,
       wanted_at = due_at,
       due_at = CAST(:now AS DECIMAL(19, 0)) + CAST(:lease_ms AS DECIMAL(19, 0)),
       modified_at = CAST(:now AS DECIMAL(19, 0))
WHERE id = (SELECT first.id FROM (
              SELECT MIN(id) AS id FROM tp_pending WHERE handler = :handler AND due_at <= CAST(:now AS DECIMAL(19, 0))
                AND NOT EXISTS (SELECT 1 FROM tp_pause WHERE tp_pause.handler = :handler)
                AND NOT EXISTS (SELECT 1 FROM tp_cancel
                      WHERE tp_cancel.task_id = tp_pending.id AND tp_cancel.created_at >= tp_pending.created_at
                        AND tp_cancel.due_at <= CAST(:now AS DECIMAL(19, 0)))
                AND priority = (SELECT MIN(priority) FROM tp_pending WHERE handler = :handler
                                  AND due_at <= CAST(:now AS DECIMAL(19, 0))
                                  AND NOT EXISTS (SELECT 1 FROM tp_cancel
                                        WHERE tp_cancel.task_id = tp_pending.id AND tp_cancel.created_at >= tp_pending.created_at
                                          AND tp_cancel.due_at <= CAST(:now AS DECIMAL(19, 0))))) first)
  AND due_at <= CAST(:now AS DECIMAL(19, 0));

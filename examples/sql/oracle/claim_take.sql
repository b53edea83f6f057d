-- Claim, the first of two statements: takes tasks that are due under a new token, for the time of a lease. A task whose lease
-- lapsed counts a failure. A paused handler has none. A task that was cancelled, or whose deadline has passed, is left to the library.
-- The row count says whether there is one: it takes the first. Rows cannot be skipped and counted in one statement here, so of two
-- sessions that ask at once one waits for the other's commit; the outer condition is asked of the row as it is by then. 0 may
-- mean that another session took it: claim again before you take it for none. READ COMMITTED; commit at once.
UPDATE tp_pending SET failures = failures + CASE WHEN state = 'handling' AND failures < 2147483647 THEN 1 ELSE 0 END,
       reason = CASE WHEN state = 'handling' THEN 'lease lapsed, held by ' || COALESCE(owner, 'nobody')
            WHEN reason LIKE 'lease lapsed, held by %' THEN 'earlier: ' || SUBSTR(reason, 1, 120)
            ELSE reason END,
       state = 'handling', owner = :token,
       wanted_at = due_at,
       due_at = (SELECT tp_now() FROM DUAL) + :lease_ms,
       modified_at = (SELECT tp_now() FROM DUAL)
WHERE id = (SELECT id FROM (
              SELECT id FROM tp_pending WHERE handler = :handler AND due_at <= (SELECT tp_now() FROM DUAL)
                AND NOT EXISTS (SELECT 1 FROM tp_pause WHERE tp_pause.handler = :handler)
                AND NOT EXISTS (SELECT 1 FROM tp_cancel
                      WHERE tp_cancel.task_id = tp_pending.id AND tp_cancel.created_at >= tp_pending.created_at
                        AND tp_cancel.due_at <= (SELECT tp_now() FROM DUAL))
              ORDER BY priority, due_at, id) WHERE ROWNUM <= 1)
  AND due_at <= (SELECT tp_now() FROM DUAL);

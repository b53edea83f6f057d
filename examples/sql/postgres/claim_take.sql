-- Claim, the first of two statements: takes tasks that are due under a new token, for the time of a lease. A task whose lease
-- lapsed counts a failure. A paused handler has none. A task that was cancelled, or whose deadline has passed, is left to the library.
-- The row count says how many; 0: none is due.
-- Rows that others hold are passed by, and the outer condition is asked of the row as it is by then.
UPDATE tp_pending SET failures = failures + CASE WHEN state = 'handling' AND failures < 2147483647 THEN 1 ELSE 0 END,
       reason = CASE WHEN state = 'handling' THEN 'lease lapsed, held by ' || COALESCE(CAST(owner AS varchar), 'nobody')
            WHEN reason LIKE 'lease lapsed, held by %' THEN LEFT('earlier: ' || reason, 512)
            ELSE reason END,
       state = 'handling', owner = CAST(:token AS uuid),
       wanted_at = due_at,
       due_at = CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint) + CAST(:lease_ms AS bigint),
       modified_at = CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint)
WHERE id = ANY (ARRAY(
        SELECT id FROM tp_pending
        WHERE handler = :handler AND due_at <= CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint)
          AND NOT EXISTS (SELECT 1 FROM tp_pause WHERE tp_pause.handler = :handler)
          AND NOT EXISTS (SELECT 1 FROM tp_cancel
                WHERE tp_cancel.task_id = tp_pending.id AND tp_cancel.created_at >= tp_pending.created_at
                  AND tp_cancel.due_at <= CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint))
        ORDER BY priority, due_at, id LIMIT CAST(:limit AS integer) FOR UPDATE SKIP LOCKED))
  AND due_at <= CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint);

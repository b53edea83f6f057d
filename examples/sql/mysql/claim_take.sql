-- Claim, the first of two statements: takes tasks that are due under a new token, for the time of a lease. A task whose lease
-- lapsed counts a failure. A paused handler has none. A task that was cancelled, or whose deadline has passed, is left to the library.
-- The row count says how many; 0: none is due. Rows that others hold are passed by. What SET needs of the old row comes from the
-- inner select, because the order of assignments in a joined UPDATE is not promised. MySQL 8, MariaDB 10.6; READ COMMITTED.
UPDATE (SELECT id, due_at, failures + CASE WHEN state = 'handling' AND failures < 2147483647 THEN 1 ELSE 0 END AS next_failures,
             CASE WHEN state = 'handling' THEN CONCAT('lease lapsed, held by ', COALESCE(owner, 'nobody'))
            WHEN reason LIKE 'lease lapsed, held by %' THEN LEFT(CONCAT('earlier: ', reason), 512)
            ELSE reason END AS next_reason
      FROM tp_pending FORCE INDEX (tp_pending_due)
      WHERE handler = :handler AND due_at <= TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000
        AND NOT EXISTS (SELECT 1 FROM tp_pause WHERE tp_pause.handler = :handler)
        AND NOT EXISTS (SELECT 1 FROM tp_cancel
              WHERE tp_cancel.task_id = tp_pending.id AND tp_cancel.created_at >= tp_pending.created_at
                AND tp_cancel.due_at <= TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000)
      ORDER BY priority, due_at, id LIMIT :limit FOR UPDATE SKIP LOCKED) AS picked
STRAIGHT_JOIN tp_pending AS task FORCE INDEX (PRIMARY) ON task.id = picked.id
SET task.failures = picked.next_failures, task.reason = picked.next_reason, task.state = 'handling', task.owner = :token,
    task.wanted_at = picked.due_at,
    task.due_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 + :lease_ms,
    task.modified_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000;

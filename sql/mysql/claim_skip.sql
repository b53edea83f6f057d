-- Locks past other claimers in one lane and marks in one statement, the picked rows first, so that no other row is touched;
-- claim_read reads it back. What SET needs of the old row comes from the inner select, because the order of
-- assignments in a joined UPDATE is not promised.
-- The index is forced, that of shards where shards are asked for: the server may prefer to read and sort the whole pool, and lock it.
UPDATE (SELECT id, failures + CASE WHEN state = 'handling' AND failures < 2147483647 THEN 1 ELSE 0 END AS next_failures,
             CASE WHEN state = 'handling' THEN CONCAT('lease lapsed, held by ', COALESCE(owner, 'nobody'))
            WHEN reason LIKE 'lease lapsed, held by %' THEN LEFT(CONCAT('earlier: ', reason), 512)
            ELSE reason END AS next_reason
      FROM tp_pending FORCE INDEX (tp_pending_due /*shards*/, tp_pending_shd) IGNORE INDEX (tp_pending_due /*end*/)
      WHERE handler = :handler /*shards*/ AND shard IN (:shards) /*end*/ AND priority = :priority AND due_at BETWEEN :since AND {now}
      ORDER BY due_at, id LIMIT :limit FOR UPDATE SKIP LOCKED) AS picked
STRAIGHT_JOIN tp_pending AS task FORCE INDEX (PRIMARY) ON task.id = picked.id
SET task.failures = picked.next_failures, task.reason = picked.next_reason, task.state = 'handling', task.owner = :token,
    task.due_at = {now_plus lease},
    task.modified_at = {now}

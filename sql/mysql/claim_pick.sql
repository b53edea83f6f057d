-- The check of the classic plan: ids that look claimable, without a lock. The first n of each lane, of which the first n.
-- The index is forced, that of shards where shards are asked for: the server may prefer to read and sort the whole pool, and lock it.
SELECT id FROM (
  /*rows*/
  SELECT * FROM (SELECT id, due_at FROM tp_pending FORCE INDEX (tp_pending_due /*shards*/, tp_pending_shd) IGNORE INDEX (tp_pending_due /*end*/)
                 WHERE handler = :handler /*shards*/ AND shard IN (:shards) /*end*/ AND priority = :priority AND due_at BETWEEN :since AND {now}
                 ORDER BY due_at, id LIMIT :limit) AS lane
  /*end*/
) AS due
ORDER BY due_at, id LIMIT :limit

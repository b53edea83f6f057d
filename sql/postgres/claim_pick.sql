-- The check of the classic plan: ids that look claimable, without a lock. The first n of each lane, of which the first n.
SELECT id FROM (
  /*rows*/
  SELECT * FROM (SELECT id, due_at FROM tp_pending
                 WHERE handler = :handler /*shards*/ AND shard IN (:shards) /*but 0*/ AND shard <> 0 /*end*/ AND priority = CAST(:priority AS smallint) AND due_at BETWEEN CAST(:since AS bigint) AND {now}
                 ORDER BY due_at, id LIMIT CAST(:limit AS integer)) AS lane
  /*end*/
) AS due
ORDER BY due_at, id LIMIT CAST(:limit AS integer)

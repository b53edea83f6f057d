-- Ids that look claimable, without a lock: the first n of each lane, of which the first n. The order is made before ROWNUM counts.
SELECT id FROM (
  SELECT id, due_at FROM (
  /*rows*/
  SELECT * FROM (SELECT id, due_at FROM tp_pending
                 WHERE handler = :handler /*shards*/ AND shard IN (:shards) /*end*/ AND priority = :priority AND due_at <= {now}
                 ORDER BY due_at, id) WHERE ROWNUM <= :limit
  /*end*/
  ) ORDER BY due_at, id
) WHERE ROWNUM <= :limit

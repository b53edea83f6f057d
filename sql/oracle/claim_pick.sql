-- Ids that look claimable, without a lock. The order is made before ROWNUM counts.
SELECT id FROM (
  SELECT id FROM tp_pending WHERE handler IN (:handlers) /*shards*/ AND shard IN (:shards) /*end*/ AND due_at <= (SELECT tp_now() FROM DUAL)
  ORDER BY priority, due_at, id
) WHERE ROWNUM <= :limit

-- Takes the first n in one UPDATE. The condition is repeated outside: a restarted UPDATE checks it again, the subquery
-- not.
UPDATE tp_pending SET failures = failures + CASE WHEN state = 'handling' AND failures < 2147483647 THEN 1 ELSE 0 END,
       reason = CASE WHEN state = 'handling' THEN 'lease lapsed, held by ' || COALESCE(owner, 'nobody')
            WHEN reason LIKE 'lease lapsed, held by %' THEN 'earlier: ' || SUBSTR(reason, 1, 120)
            ELSE reason END,
       state = 'handling', owner = :token,
       due_at = (SELECT tp_now() FROM DUAL) + :lease_ms,
       modified_at = (SELECT tp_now() FROM DUAL)
WHERE id IN (
    SELECT id FROM (
      SELECT id FROM tp_pending WHERE handler IN (:handlers) /*shards*/ AND shard IN (:shards) /*end*/ AND due_at <= (SELECT tp_now() FROM DUAL)
      ORDER BY priority, due_at, id
    ) WHERE ROWNUM <= :limit)
  AND due_at <= (SELECT tp_now() FROM DUAL)

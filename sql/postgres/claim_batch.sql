-- Takes the first n of a lane in one UPDATE, past what others hold: waiting for them would lock rows in the state they are in by then,
-- claimed and about to be settled, and deadlock with those settles. The array is read once, so the limit holds.
UPDATE tp_pending SET failures = failures + CASE WHEN state = 'handling' AND failures < 2147483647 THEN 1 ELSE 0 END,
       reason = CASE WHEN state = 'handling' THEN 'lease lapsed, held by ' || COALESCE(CAST(owner AS varchar), 'nobody')
            WHEN reason LIKE 'lease lapsed, held by %' THEN LEFT('earlier: ' || reason, 512)
            ELSE reason END,
       state = 'handling', owner = CAST(:token AS uuid),
       due_at = (SELECT {now}) + CAST(:lease_ms AS bigint),
       modified_at = (SELECT {now})
WHERE id = ANY (ARRAY(
        SELECT id FROM tp_pending WHERE handler = :handler /*shards*/ AND shard IN (:shards) /*but 0*/ AND shard <> 0 /*end*/ AND priority = CAST(:priority AS smallint)
          AND due_at BETWEEN CAST(:since AS bigint) AND {now}
        ORDER BY due_at, id LIMIT CAST(:limit AS integer) FOR UPDATE SKIP LOCKED))
  AND due_at <= {now}

-- Takes the first n of some lanes in one UPDATE, which holds the database's only write lock.
UPDATE tp_pending SET failures = failures + CASE WHEN state = 'handling' AND failures < 2147483647 THEN 1 ELSE 0 END,
       reason = CASE WHEN state = 'handling' THEN 'lease lapsed, held by ' || COALESCE(owner, 'nobody')
            WHEN reason LIKE 'lease lapsed, held by %' THEN substr('earlier: ' || reason, 1, 512)
            ELSE reason END,
       state = 'handling', owner = :token,
       due_at = {now_plus lease},
       modified_at = {now}
WHERE rowid IN (SELECT row FROM (
               /*rows*/
               SELECT * FROM (SELECT rowid AS row, id, due_at FROM tp_pending
                              WHERE handler = :handler /*shards*/ AND shard IN (:shards) /*but 0*/ AND shard <> 0 /*end*/ AND priority = :priority AND due_at <= {now}
                              ORDER BY due_at, id LIMIT :limit) AS lane
               /*end*/
             ) AS due ORDER BY due_at, id LIMIT :limit)

-- Many tasks in one statement; the part between the marks is repeated. tp_meta's one row stands in for a table of
-- one row.
INSERT INTO tp_pending (id, handler, biz_key, dedup_key, params, shard, priority, max_failures, due_at, state, failures,
                        created_at, modified_at)
/*rows*/
SELECT CAST(:id AS CHAR(36)), :handler, :biz_key, :dedup_key, :params, CAST(:shard AS DECIMAL(10, 0)),
       CAST(:priority AS DECIMAL(5, 0)), CAST(:max_failures AS DECIMAL(10, 0)),
       CAST(:now_plus_delay AS DECIMAL(19, 0)),
       'pending', 0, CAST(:now AS DECIMAL(19, 0)), CAST(:now AS DECIMAL(19, 0))
FROM tp_meta WHERE name = 'schema'
/*end*/

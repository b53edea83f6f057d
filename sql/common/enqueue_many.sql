-- Many tasks in one statement; the part between the marks is repeated.
INSERT INTO tp_pending (id, handler, biz_key, dedup_key, params, shard, priority, max_failures, due_at, state, failures,
                        created_at, modified_at)
/*rows*/
SELECT {as_id :id} AS id, :handler AS handler, :biz_key AS biz_key, :dedup_key AS dedup_key, :params AS params,
       CAST(:shard AS DECIMAL(10, 0)) AS shard, CAST(:priority AS DECIMAL(5, 0)) AS priority,
       CAST(:max_failures AS DECIMAL(10, 0)) AS max_failures, {as_time {due}} AS due_at,
       'pending' AS state, 0 AS failures, {now_number} AS created_at, {now_number} AS modified_at
{from_one_row}
/*end*/

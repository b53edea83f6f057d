-- Many tasks that cannot be there, because their ids are new and they have no dedup_key: without ON CONFLICT, for which each
-- row would be searched first and confirmed afterwards. The document is that of enqueue_many.
INSERT INTO tp_pending (id, handler, biz_key, params, shard, priority, max_failures, due_at, state, failures,
                        created_at, modified_at)
SELECT CAST(task ->> 0 AS uuid), task ->> 1, task ->> 3, task ->> 2, COALESCE(CAST(task ->> 6 AS integer), 0),
       COALESCE(CAST(task ->> 5 AS smallint), 0), CAST(task ->> 9 AS integer),
       COALESCE(CAST(task ->> 8 AS bigint), {now_once} + COALESCE(CAST(task ->> 7 AS bigint), 0)),
       'pending', 0, {now_once}, {now_once}
FROM jsonb_array_elements(CAST(:document AS jsonb)) AS task

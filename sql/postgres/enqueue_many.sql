-- Differs because many rows come as one JSON document: [[id, handler, biz_key, dedup_key, params, shard, priority,
-- max_failures, due_at, delay_ms], ...]. As jsonb, for each ->> of json reads its row's text from the beginning. The clock in
-- a SELECT is read once, and not for each row.
INSERT INTO tp_pending (id, handler, biz_key, dedup_key, params, shard, priority, max_failures, due_at, state, failures,
                        created_at, modified_at)
SELECT CAST(task ->> 0 AS uuid), task ->> 1, task ->> 2, task ->> 3, task ->> 4, CAST(task ->> 5 AS integer),
       CAST(task ->> 6 AS smallint), CAST(task ->> 7 AS integer),
       COALESCE(CAST(task ->> 8 AS bigint), {now_once} + CAST(task ->> 9 AS bigint)),
       'pending', 0, {now_once}, {now_once}
FROM jsonb_array_elements(CAST(:document AS jsonb)) AS task
{unless_there}

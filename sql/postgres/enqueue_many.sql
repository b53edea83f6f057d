-- Differs because many rows come as one JSON document: [[id, handler, params, biz_key, dedup_key, priority, shard,
-- delay_ms, due_at, max_failures], ...], without the nulls at a row's end. As jsonb, for each ->> of json reads its row's text from the beginning. The clock in
-- a SELECT is read once, and not for each row.
INSERT INTO tp_pending (id, handler, biz_key, dedup_key, params, shard, priority, max_failures, due_at, state, failures,
                        created_at, modified_at)
SELECT CAST(task ->> 0 AS uuid), task ->> 1, task ->> 3, task ->> 4, task ->> 2, COALESCE(CAST(task ->> 6 AS integer), 0),
       COALESCE(CAST(task ->> 5 AS smallint), 0), CAST(task ->> 9 AS integer),
       COALESCE(CAST(task ->> 8 AS bigint), {now_once} + COALESCE(CAST(task ->> 7 AS bigint), 0)),
       'pending', 0, {now_once}, {now_once}
FROM jsonb_array_elements(CAST(:document AS jsonb)) AS task
{unless_there}

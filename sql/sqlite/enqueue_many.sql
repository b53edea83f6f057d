-- Differs because many rows come as one JSON document: [[id, handler, params, biz_key, dedup_key, priority, shard,
-- delay_ms, due_at, max_failures], ...], without the nulls at a row's end. WHERE TRUE keeps ON CONFLICT from being read as a join.
INSERT INTO tp_pending (id, handler, biz_key, dedup_key, params, shard, priority, max_failures, due_at, state, failures,
                        created_at, modified_at)
SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[3]'), json_extract(value, '$[4]'),
       json_extract(value, '$[2]'), COALESCE(json_extract(value, '$[6]'), 0), COALESCE(json_extract(value, '$[5]'), 0),
       json_extract(value, '$[9]'),
       COALESCE(json_extract(value, '$[8]'), {now} + COALESCE(json_extract(value, '$[7]'), 0)),
       'pending', 0, {now}, {now}
FROM json_each(:document) WHERE TRUE
{unless_there}

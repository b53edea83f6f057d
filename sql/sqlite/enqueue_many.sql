-- Differs because many rows come as one JSON document: [[id, handler, biz_key, dedup_key, params, shard, priority,
-- max_failures, due_at, delay_ms], ...]. WHERE TRUE keeps ON CONFLICT from being read as a join.
INSERT INTO tp_pending (id, handler, biz_key, dedup_key, params, shard, priority, max_failures, due_at, state, failures,
                        created_at, modified_at)
SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'), json_extract(value, '$[3]'),
       json_extract(value, '$[4]'), json_extract(value, '$[5]'), json_extract(value, '$[6]'), json_extract(value, '$[7]'),
       COALESCE(json_extract(value, '$[8]'), {now} + json_extract(value, '$[9]')),
       'pending', 0, {now}, {now}
FROM json_each(:document) WHERE TRUE
{unless_there}

-- Differs because many rows come as one JSON document: [[id, handler, biz_key, dedup_key, params, shard, priority,
-- max_failures, due_at, delay_ms], ...].
INSERT INTO tp_pending (id, handler, biz_key, dedup_key, params, shard, priority, max_failures, due_at, state, failures,
                        created_at, modified_at)
SELECT id, handler, biz_key, dedup_key, params, shard, priority, max_failures,
       COALESCE(due_at, {now} + delay_ms),
       'pending', 0, {now}, {now}
FROM JSON_TABLE(:document, '$[*]' COLUMNS (
       id CHAR(36) PATH '$[0]', handler VARCHAR(64) PATH '$[1]', biz_key VARCHAR(128) PATH '$[2]',
       dedup_key VARCHAR(128) PATH '$[3]', params LONGTEXT PATH '$[4]', shard INT PATH '$[5]', priority INT PATH '$[6]',
       max_failures INT PATH '$[7]', due_at BIGINT PATH '$[8]', delay_ms BIGINT PATH '$[9]')) AS task

-- Differs because many rows come as one JSON document: [[id, handler, params, biz_key, dedup_key, priority, shard,
-- delay_ms, due_at, max_failures], ...], without the nulls at a row's end.
INSERT INTO tp_pending (id, handler, biz_key, dedup_key, params, shard, priority, max_failures, due_at, state, failures,
                        created_at, modified_at)
SELECT id, handler, biz_key, dedup_key, params, COALESCE(shard, 0), COALESCE(priority, 0), max_failures,
       COALESCE(due_at, {now} + COALESCE(delay_ms, 0)),
       'pending', 0, {now}, {now}
FROM JSON_TABLE(:document, '$[*]' COLUMNS (
       id CHAR(36) PATH '$[0]', handler VARCHAR(64) PATH '$[1]', params LONGTEXT PATH '$[2]', biz_key VARCHAR(128) PATH '$[3]',
       dedup_key VARCHAR(128) PATH '$[4]', priority INT PATH '$[5]', shard INT PATH '$[6]', delay_ms BIGINT PATH '$[7]',
       due_at BIGINT PATH '$[8]', max_failures INT PATH '$[9]')) AS task

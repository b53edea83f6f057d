-- Differs because the database's clock is read in the statement itself, and the ids come as one JSON document.
INSERT INTO tp_finished (id, handler, biz_key, dedup_key, params, shard, priority, state, failures, max_failures, reason, owner,
                         due_at, created_at, modified_at, settled_at)
SELECT id, handler, biz_key, dedup_key, params, shard, priority, :state, failures, max_failures, reason, owner,
       due_at, created_at, {now}, {now}
FROM tp_pending WHERE id IN (SELECT value FROM json_each(:ids_document)) AND state = 'handling' AND owner = :token

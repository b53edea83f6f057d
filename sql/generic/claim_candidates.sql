-- Differs because there are no words for the first n tasks of a lane: what waits, or is of another lane, is not read, and the library stops
-- reading at its limit.
{rows SELECT id, handler, biz_key,
       {params_if_short params},
       reason, state, shard, priority, failures, max_failures, created_at, due_at,
       {now_number} AS now_ms, modified_at, owner
FROM tp_pending WHERE {lane} AND due_at <= {now}}
ORDER BY priority, due_at, id

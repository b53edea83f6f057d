-- The workers that were heard of since then, the last heard of first.
SELECT id, name, host, handlers, plan, state, pid, threads, running, claimed, done, failed, started_at, seen_at, token_tag, drain_at,
       drain_who
FROM tp_worker WHERE seen_at >= :since ORDER BY seen_at DESC, id

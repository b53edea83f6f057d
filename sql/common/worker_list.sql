-- The workers, the last heard of first.
SELECT id, name, host, handlers, plan, state, pid, threads, running, claimed, done, failed, started_at, seen_at
FROM tp_worker ORDER BY seen_at DESC, id

-- Tasks of all pools that were put in within a period, in one statement, which sees one moment. The settled pools are read by
-- their age: no task is settled before it is put in, but by as much as clocks of two servers may differ.
SELECT 'pending' AS pool, id, handler, state, failures, created_at, params FROM tp_pending
WHERE created_at >= :since AND created_at < :before AND {given handler}
UNION ALL
SELECT 'finished' AS pool, id, handler, state, failures, created_at, params FROM tp_finished
WHERE settled_at >= :settled_since AND created_at >= :since AND created_at < :before AND {given handler}
UNION ALL
SELECT 'failed' AS pool, id, handler, state, failures, created_at, params FROM tp_failed
WHERE settled_at >= :settled_since AND created_at >= :since AND created_at < :before AND {given handler}

-- Handlers that are paused; a claim leaves them out. And, by a name that no handler has, in how many ms the first task is not wanted any
-- more, so that a claim knows without a statement of its own whether it is to look.
SELECT handler, who, reason, created_at FROM tp_pause
UNION ALL
SELECT '!' AS handler, '' AS who, '' AS reason, {result COALESCE(wanted.first_at - {now}, 253402300799999)} AS created_at
FROM (SELECT MIN(due_at) AS first_at FROM tp_cancel) wanted
ORDER BY handler

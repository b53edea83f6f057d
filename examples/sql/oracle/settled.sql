-- After a COMMIT that got no answer, on a new connection: what became of the task under this token? handling: the commit was not done,
-- effect and settle are to be made again while the lease lasts. No row: the claim is lost.
SELECT 'pending' AS pool, state, failures FROM tp_pending WHERE id = :id AND owner = :token
UNION ALL
SELECT 'finished' AS pool, state, failures FROM tp_finished WHERE id = :id AND owner = :token
UNION ALL
SELECT 'failed' AS pool, state, failures FROM tp_failed WHERE id = :id AND owner = :token;

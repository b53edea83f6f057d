-- In which pool and state is the task that this token holds or settled?
SELECT 'pending' AS pool, state, failures, gate FROM tp_pending WHERE id = :id AND owner = :token
UNION ALL
SELECT 'finished' AS pool, state, failures, gate FROM tp_finished WHERE id = :id AND owner = :token
UNION ALL
SELECT 'failed' AS pool, state, failures, gate FROM tp_failed WHERE id = :id AND owner = :token

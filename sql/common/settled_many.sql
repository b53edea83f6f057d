-- In which pool and state are the tasks that this token holds or settled?
SELECT id, 'pending' AS pool, state FROM tp_pending WHERE id IN (:ids) AND owner = :token
UNION ALL
SELECT id, 'finished' AS pool, state FROM tp_finished WHERE id IN (:ids) AND owner = :token
UNION ALL
SELECT id, 'failed' AS pool, state FROM tp_failed WHERE id IN (:ids) AND owner = :token

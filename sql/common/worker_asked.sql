-- Was this worker asked to end?
SELECT drain_at, drain_who FROM tp_worker WHERE id = :id AND drain_at IS NOT NULL

-- Asks a worker to stop claiming and to end.
UPDATE tp_worker SET drain_at = :at, drain_who = :who WHERE id = :id AND state IN ('running', 'stopping')

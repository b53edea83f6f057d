-- Differs because the level of one transaction cannot be asked for: a locking read sees what is committed by now, whatever snapshot
-- the caller's transaction reads by.
(SELECT id FROM tp_finished WHERE id = :id LOCK IN SHARE MODE)
UNION ALL
(SELECT id FROM tp_failed WHERE id = :id LOCK IN SHARE MODE)

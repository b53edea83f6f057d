-- Workers that have not been heard of for too long are taken for dead.
UPDATE tp_worker SET state = 'died' WHERE state IN ('running', 'stopping') AND seen_at < :before

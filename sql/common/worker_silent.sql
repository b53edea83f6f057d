-- Workers that have not been heard of for too long are taken for dead.
UPDATE tp_worker SET state = 'died' WHERE state = 'running' AND seen_at < :before

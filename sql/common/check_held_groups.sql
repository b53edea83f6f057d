-- Groups that were closed long ago and have not ended.
SELECT COUNT(*), MIN(name) FROM tp_group WHERE state = 'closed' AND closed_at < :before

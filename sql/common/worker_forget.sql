-- Workers that ended or died long ago.
DELETE FROM tp_worker WHERE state NOT IN ('running', 'stopping') AND seen_at < :before

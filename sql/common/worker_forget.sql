-- Workers that ended or died long ago.
DELETE FROM tp_worker WHERE state <> 'running' AND seen_at < :before

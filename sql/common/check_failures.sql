-- Tasks with a count of failures that no sequence of events gives.
SELECT COUNT(*), MIN(id) FROM (
SELECT CAST(id AS CHAR(36)) AS id FROM tp_pending WHERE failures < 0 OR failures > 1000000000 OR (state = 'failed' AND failures = 0)
UNION ALL
SELECT CAST(id AS CHAR(36)) AS id FROM tp_finished WHERE failures < 0 OR failures > 1000000000
UNION ALL
SELECT CAST(id AS CHAR(36)) AS id FROM tp_failed WHERE failures < 1 OR failures > 1000000000
) wrong

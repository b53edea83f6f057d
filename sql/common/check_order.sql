-- Tasks settled more than a day before they were created: more than a clock that was corrected explains.
SELECT COUNT(*), MIN(id) FROM (
SELECT CAST(id AS CHAR(36)) AS id FROM tp_finished WHERE settled_at < created_at - 86400000
UNION ALL
SELECT CAST(id AS CHAR(36)) AS id FROM tp_failed WHERE settled_at < created_at - 86400000
) wrong

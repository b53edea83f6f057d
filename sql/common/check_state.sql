-- Tasks in a state that their pool does not have.
SELECT COUNT(*), MIN(id) FROM (
SELECT CAST(id AS CHAR(36)) AS id FROM tp_pending WHERE state NOT IN ('pending', 'handling', 'failed')
UNION ALL
SELECT CAST(id AS CHAR(36)) AS id FROM tp_finished WHERE state NOT IN ('done', 'skipped')
UNION ALL
SELECT CAST(id AS CHAR(36)) AS id FROM tp_failed WHERE state NOT IN ('failed')
) wrong

-- Tasks without a handler.
SELECT COUNT(*), MIN(id) FROM (
SELECT CAST(id AS CHAR(36)) AS id FROM tp_pending WHERE LENGTH(TRIM(handler)) IS NULL OR LENGTH(TRIM(handler)) = 0
UNION ALL
SELECT CAST(id AS CHAR(36)) AS id FROM tp_failed WHERE LENGTH(TRIM(handler)) IS NULL OR LENGTH(TRIM(handler)) = 0
) wrong

-- Tasks without a handler.
SELECT COUNT(*), MIN(id) FROM (
SELECT CAST(id AS CHAR(36)) AS id FROM tp_pending WHERE COALESCE(TRIM(handler), ' ') = ' '
UNION ALL
SELECT CAST(id AS CHAR(36)) AS id FROM tp_failed WHERE COALESCE(TRIM(handler), ' ') = ' '
) wrong

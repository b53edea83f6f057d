-- Tasks whose id is not written as a UUID in lower case: its length, its hyphens or a capital letter. Digits are not checked.
SELECT COUNT(*), MIN(id) FROM (
SELECT id FROM (SELECT CAST(id AS CHAR(36)) AS id FROM tp_pending) one
WHERE LOWER(id) <> id OR id NOT LIKE '________-____-____-____-____________'
UNION ALL
SELECT id FROM (SELECT CAST(id AS CHAR(36)) AS id FROM tp_finished) two
WHERE LOWER(id) <> id OR id NOT LIKE '________-____-____-____-____________'
UNION ALL
SELECT id FROM (SELECT CAST(id AS CHAR(36)) AS id FROM tp_failed) three
WHERE LOWER(id) <> id OR id NOT LIKE '________-____-____-____-____________'
) wrong

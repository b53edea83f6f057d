-- Tasks whose lease lapsed long ago and that nobody claimed since. before: the time that is long ago.
SELECT COUNT(*), MIN(CAST(id AS CHAR(36))) FROM tp_pending
WHERE state = 'handling' AND due_at <= :before

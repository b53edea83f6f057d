-- Tasks that have been due for long and that nobody claimed. before: the time that is long ago.
SELECT COUNT(*), MIN(CAST(id AS CHAR(36))) FROM tp_pending
WHERE state <> 'handling' AND due_at <= :before

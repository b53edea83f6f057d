-- Tasks that are being handled by nobody: no claim can be settled, and their lease says when they come back.
SELECT COUNT(*), MIN(CAST(id AS CHAR(36))) FROM tp_pending
WHERE state = 'handling' AND owner IS NULL

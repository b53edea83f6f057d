-- Tasks in state handling without an owner: nobody can settle them; they are claimed again when their lease lapses.
SELECT COUNT(*), MIN(CAST(id AS CHAR(36))) FROM tp_pending
WHERE state = 'handling' AND owner IS NULL

-- How long until the next planned time; NULL when there is none.
SELECT first_at - CAST(:now AS DECIMAL(19, 0)) AS wait_ms
FROM (SELECT MIN(next_at) AS first_at FROM tp_schedule WHERE paused = 0) earliest

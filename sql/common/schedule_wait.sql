-- How long until the next planned time; NULL when there is none.
SELECT {result CASE WHEN first_at < 0 THEN 0 ELSE first_at END - {now_number}} AS wait_ms
FROM (SELECT MIN(next_at) AS first_at FROM tp_schedule WHERE paused = 0) earliest

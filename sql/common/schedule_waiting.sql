-- Schedules that count from the end of their last task, and what became of it: open, finished, failed, or gone.
SELECT s.name, s.rule, s.time_zone, s.calendar, s.closed, s.last_task, CASE WHEN p.id IS NULL THEN 0 ELSE 1 END AS is_open, f.settled_at AS finished_at,
       x.settled_at AS failed_at
FROM tp_schedule s
LEFT JOIN tp_pending p ON p.id = s.last_task
LEFT JOIN tp_finished f ON f.id = s.last_task
LEFT JOIN tp_failed x ON x.id = s.last_task
WHERE s.paused = 0 AND s.next_at IS NULL AND s.fire_at IS NULL AND s.last_task IS NOT NULL AND s.rule LIKE 'after %'

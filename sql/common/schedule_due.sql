-- The schedules that are due, and those whose calendar has changed. With a calendar only an older library sets next_at.
SELECT s.name, {result {now_number}} AS now_ms
FROM tp_schedule s LEFT JOIN tp_calendar c ON c.name = s.calendar
WHERE s.paused = 0 AND (s.next_at <= {now_number} OR s.fire_at <= {now_number} OR c.version <> s.calendar_version
       OR (s.calendar IS NOT NULL AND s.next_at IS NOT NULL))
ORDER BY COALESCE(s.fire_at, s.next_at), s.name

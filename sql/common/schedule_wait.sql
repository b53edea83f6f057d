-- How long until the next planned time, NULL when there is none; and whether a schedule waits for the end of its last task. A calendar
-- that has changed is a reason to come at once, and so is a next_at beside one: an older library has resumed the schedule.
SELECT {result CASE WHEN first_at < 0 THEN 0 ELSE first_at END - {now_number}} AS wait_ms, waiting
FROM (SELECT MIN(CASE WHEN c.version <> s.calendar_version OR (s.calendar IS NOT NULL AND s.next_at IS NOT NULL) THEN 0 ELSE COALESCE(s.fire_at, s.next_at) END) AS first_at,
             MAX(CASE WHEN s.next_at IS NULL AND s.fire_at IS NULL AND s.last_task IS NOT NULL AND s.rule LIKE 'after %' THEN 1 ELSE 0 END) AS waiting
      FROM tp_schedule s LEFT JOIN tp_calendar c ON c.name = s.calendar
      WHERE s.paused = 0) earliest

-- Removes all days of a calendar.
DELETE FROM tp_calendar_day WHERE calendar = :name

-- Is there a calendar, and which?
SELECT version FROM tp_calendar WHERE name = :name

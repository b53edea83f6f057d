-- A schedule that goes by a calendar.
SELECT name FROM tp_schedule WHERE calendar = :name ORDER BY name

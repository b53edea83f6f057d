-- Removes a schedule. The tasks that it made stay.
DELETE FROM tp_schedule WHERE name = :name

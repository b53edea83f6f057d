-- Removes a calendar, of the version that was read.
DELETE FROM tp_calendar WHERE name = :name AND version = :old_version

-- Changes a calendar, of the version that was read.
UPDATE tp_calendar SET time_zone = :time_zone, weekdays = :weekdays, cut_off = :cut_off, first_date = :first_date, last_date = :last_date,
       version = :version, changed_by = :who, modified_at = {now}
WHERE name = :name AND version = :old_version

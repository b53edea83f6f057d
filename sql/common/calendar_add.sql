-- A new calendar.
INSERT INTO tp_calendar (name, time_zone, weekdays, cut_off, first_date, last_date, version, changed_by, created_at, modified_at)
VALUES (:name, :time_zone, :weekdays, :cut_off, :first_date, :last_date, :version, :who, {value_now}, {value_now})
{unless_there}

-- A day of a calendar.
INSERT INTO tp_calendar_day (calendar, business_date, kind, cut_off, name)
VALUES (:name, :business_date, :kind, :cut_off, :value)
{unless_there}

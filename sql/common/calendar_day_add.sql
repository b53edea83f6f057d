-- Days of a calendar; the part in rows is repeated, with UNION ALL.
INSERT INTO tp_calendar_day (calendar, business_date, kind, cut_off, name)
{rows SELECT :name AS calendar, :business_date AS business_date, :kind AS kind, :cut_off AS cut_off, :value AS name
{from_one_row}}

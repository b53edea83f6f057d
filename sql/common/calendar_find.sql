-- One calendar with its days. In one statement, so that nobody sees half of a change.
SELECT c.name, c.time_zone, c.weekdays, c.cut_off, c.first_date, c.last_date, c.version, c.modified_at, c.changed_by,
       d.business_date, d.kind, d.cut_off AS day_cut_off, d.name AS day_name
FROM tp_calendar c LEFT JOIN tp_calendar_day d ON d.calendar = c.name
WHERE c.name = :name
ORDER BY c.name, d.business_date

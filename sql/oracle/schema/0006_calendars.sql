-- taskpool schema, version 6, for Oracle Database 11.2 and later.
-- sqlplus USER @0006_calendars.sql   or: taskpool schema install. After version 5.
-- Drops nothing. For another prefix replace tp_ throughout.

-- Calendars: which weekdays are open, and until when (cut_off, 16:00), in their time zone; what is not one of first_date to last_date
-- (2026-12-31) is not known. version: made from all that the calendar and its days say.
CREATE TABLE tp_calendar (
  name VARCHAR2(64) NOT NULL,
  time_zone VARCHAR2(64),
  weekdays VARCHAR2(32) NOT NULL,
  cut_off VARCHAR2(5) NOT NULL,
  first_date VARCHAR2(10) NOT NULL,
  last_date VARCHAR2(10) NOT NULL,
  version VARCHAR2(36) NOT NULL,
  changed_by VARCHAR2(128),
  created_at NUMBER(19) NOT NULL,
  modified_at NUMBER(19) NOT NULL,
  CONSTRAINT tp_calendar_pk PRIMARY KEY (name)
);

-- The days that are not as their weekdays say. kind: closed, half, open. cut_off: absent where it is that of a whole day.
CREATE TABLE tp_calendar_day (
  calendar VARCHAR2(64) NOT NULL,
  business_date VARCHAR2(10) NOT NULL,
  kind VARCHAR2(8) NOT NULL,
  cut_off VARCHAR2(5),
  name VARCHAR2(128),
  CONSTRAINT tp_cal_day_pk PRIMARY KEY (calendar, business_date)
);

-- Of a schedule that goes by a calendar. closed: what becomes of planned times on closed days: skip, before, after. rule_at: the last time of
-- the rule that was dealt with. fire_at: when it fires next, instead of next_at, so that libraries that know no calendars leave it
-- alone; worked out from that version of the calendar.
ALTER TABLE tp_schedule ADD (calendar VARCHAR2(64));
ALTER TABLE tp_schedule ADD (closed VARCHAR2(8));
ALTER TABLE tp_schedule ADD (rule_at NUMBER(19));
ALTER TABLE tp_schedule ADD (fire_at NUMBER(19));
ALTER TABLE tp_schedule ADD (calendar_version VARCHAR2(36));

-- The version of these tables. What was added hinders no library of version 2, so that the version that all must know stays 2.
UPDATE tp_meta SET value = '6' WHERE name = 'schema_latest' AND value = '5';

-- taskpool schema, version 6, for PostgreSQL 12 and later.
-- psql -v ON_ERROR_STOP=1 -1 -f 0006_calendars.sql   or: taskpool schema install. After version 5.
-- Safe to run again; drops nothing. For another prefix replace tp_ throughout.

-- Calendars: which weekdays are open, and until when (cut_off, 16:00), in their time zone; what is not one of first_date to last_date
-- (2026-12-31) is not known. version: made from all that the calendar and its days say.
CREATE TABLE IF NOT EXISTS tp_calendar (
  name varchar(64) NOT NULL,
  time_zone varchar(64),
  weekdays varchar(32) NOT NULL,
  cut_off varchar(5) NOT NULL,
  first_date varchar(10) NOT NULL,
  last_date varchar(10) NOT NULL,
  version varchar(36) NOT NULL,
  changed_by varchar(128),
  created_at bigint NOT NULL,
  modified_at bigint NOT NULL,
  CONSTRAINT tp_calendar_pk PRIMARY KEY (name)
);

-- The days that are not as their weekdays say. kind: closed, half, open. cut_off: absent where it is that of a whole day.
CREATE TABLE IF NOT EXISTS tp_calendar_day (
  calendar varchar(64) NOT NULL,
  business_date varchar(10) NOT NULL,
  kind varchar(8) NOT NULL,
  cut_off varchar(5),
  name varchar(128),
  CONSTRAINT tp_cal_day_pk PRIMARY KEY (calendar, business_date)
);

-- A change of a table waits for the transactions that use it, and all that come after wait behind it: rather than hold up workers for long
-- it fails, and is run again. The columns have no default, so no row is written.
SET LOCAL lock_timeout = '5s';

-- Of a schedule that goes by a calendar. closed: what becomes of planned times on closed days: skip, before, after. rule_at: the last time of
-- the rule that was dealt with. fire_at: when it fires next, instead of next_at, so that libraries that know no calendars leave it
-- alone; worked out from that version of the calendar.
ALTER TABLE tp_schedule ADD COLUMN IF NOT EXISTS calendar varchar(64), ADD COLUMN IF NOT EXISTS closed varchar(8), ADD COLUMN IF NOT EXISTS rule_at bigint, ADD COLUMN IF NOT EXISTS fire_at bigint, ADD COLUMN IF NOT EXISTS calendar_version varchar(36);

-- The version of these tables. What was added hinders no library of version 2, so that the version that all must know stays 2.
UPDATE tp_meta SET value = '6' WHERE name = 'schema_latest' AND value = '5';

-- taskpool schema, version 6, for SQLite 3.38 and later.
-- sqlite3 -bail -cmd '.timeout 10000' FILE < 0006_calendars.sql   or: taskpool schema install. After version 5.
-- Drops nothing; where columns are there already it stops: taskpool schema install goes on, also with one that broke off. For another prefix replace tp_ throughout.

-- Calendars: which weekdays are open, and until when (cut_off, 16:00), in their time zone; what is not one of first_date to last_date
-- (2026-12-31) is not known. version: made from all that the calendar and its days say.
CREATE TABLE IF NOT EXISTS tp_calendar (
  name VARCHAR(64) NOT NULL,
  time_zone VARCHAR(64),
  weekdays VARCHAR(32) NOT NULL,
  cut_off VARCHAR(5) NOT NULL,
  first_date VARCHAR(10) NOT NULL,
  last_date VARCHAR(10) NOT NULL,
  version VARCHAR(36) NOT NULL,
  changed_by VARCHAR(128),
  created_at BIGINT NOT NULL,
  modified_at BIGINT NOT NULL,
  CONSTRAINT tp_calendar_pk PRIMARY KEY (name)
);

-- The days that are not as their weekdays say. kind: closed, half, open. cut_off: absent where it is that of a whole day.
CREATE TABLE IF NOT EXISTS tp_calendar_day (
  calendar VARCHAR(64) NOT NULL,
  business_date VARCHAR(10) NOT NULL,
  kind VARCHAR(8) NOT NULL,
  cut_off VARCHAR(5),
  name VARCHAR(128),
  CONSTRAINT tp_cal_day_pk PRIMARY KEY (calendar, business_date)
);

-- Of a schedule that goes by a calendar. closed: what becomes of planned times on closed days: skip, before, after. rule_at: the last time of
-- the rule that was dealt with. fire_at: when it fires next, instead of next_at, so that libraries that know no calendars leave it
-- alone; worked out from that version of the calendar.
ALTER TABLE tp_schedule ADD COLUMN calendar VARCHAR(64);
ALTER TABLE tp_schedule ADD COLUMN closed VARCHAR(8);
ALTER TABLE tp_schedule ADD COLUMN rule_at BIGINT;
ALTER TABLE tp_schedule ADD COLUMN fire_at BIGINT;
ALTER TABLE tp_schedule ADD COLUMN calendar_version VARCHAR(36);

-- The version of these tables. What was added hinders no library of version 2, so that the version that all must know stays 2.
UPDATE tp_meta SET value = '6' WHERE name = 'schema_latest' AND value = '5';

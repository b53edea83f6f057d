-- taskpool schema, version 6, for MySQL 8.0.13 and MariaDB 10.6 and later.
-- mariadb DATABASE < 0006_calendars.sql   or: taskpool schema install. After version 5.
-- Safe to run again; drops nothing. For another prefix replace tp_ throughout.

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
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The days that are not as their weekdays say. kind: closed, half, open. cut_off: absent where it is that of a whole day.
CREATE TABLE IF NOT EXISTS tp_calendar_day (
  calendar VARCHAR(64) NOT NULL,
  business_date VARCHAR(10) NOT NULL,
  kind VARCHAR(8) NOT NULL,
  cut_off VARCHAR(5),
  name VARCHAR(128),
  CONSTRAINT tp_cal_day_pk PRIMARY KEY (calendar, business_date)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- A change of a table waits for the transactions that use it, and all that come after wait behind it: rather than hold up workers for long
-- it fails, and is run again.
SET @tp_wait = CAST(COALESCE(@tp_wait, @@SESSION.lock_wait_timeout) AS UNSIGNED);
SET SESSION lock_wait_timeout = 5;

-- Of a schedule that goes by a calendar. closed: what becomes of planned times on closed days: skip, before, after. rule_at: the last time of
-- the rule that was dealt with. fire_at: when it fires next, instead of next_at, so that libraries that know no calendars leave it
-- alone; worked out from that version of the calendar.
/*!80000 SET @tp_column = (SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE tp_schedule ADD COLUMN calendar VARCHAR(64)')
  FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'tp_schedule' AND column_name = 'calendar') */;
/*!80000 PREPARE tp_column FROM @tp_column */;
/*!80000 EXECUTE tp_column */;
/*M! ALTER TABLE tp_schedule ADD COLUMN */ /*M!100600 IF NOT EXISTS */ /*M! calendar VARCHAR(64) */;
/*!80000 SET @tp_column = (SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE tp_schedule ADD COLUMN closed VARCHAR(8)')
  FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'tp_schedule' AND column_name = 'closed') */;
/*!80000 PREPARE tp_column FROM @tp_column */;
/*!80000 EXECUTE tp_column */;
/*M! ALTER TABLE tp_schedule ADD COLUMN */ /*M!100600 IF NOT EXISTS */ /*M! closed VARCHAR(8) */;
/*!80000 SET @tp_column = (SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE tp_schedule ADD COLUMN rule_at BIGINT')
  FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'tp_schedule' AND column_name = 'rule_at') */;
/*!80000 PREPARE tp_column FROM @tp_column */;
/*!80000 EXECUTE tp_column */;
/*M! ALTER TABLE tp_schedule ADD COLUMN */ /*M!100600 IF NOT EXISTS */ /*M! rule_at BIGINT */;
/*!80000 SET @tp_column = (SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE tp_schedule ADD COLUMN fire_at BIGINT')
  FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'tp_schedule' AND column_name = 'fire_at') */;
/*!80000 PREPARE tp_column FROM @tp_column */;
/*!80000 EXECUTE tp_column */;
/*M! ALTER TABLE tp_schedule ADD COLUMN */ /*M!100600 IF NOT EXISTS */ /*M! fire_at BIGINT */;
/*!80000 SET @tp_column = (SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE tp_schedule ADD COLUMN calendar_version VARCHAR(36)')
  FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'tp_schedule' AND column_name = 'calendar_version') */;
/*!80000 PREPARE tp_column FROM @tp_column */;
/*!80000 EXECUTE tp_column */;
/*M! ALTER TABLE tp_schedule ADD COLUMN */ /*M!100600 IF NOT EXISTS */ /*M! calendar_version VARCHAR(36) */;

SET SESSION lock_wait_timeout = @tp_wait;
SET @tp_wait = NULL;

-- The version of these tables. What was added hinders no library of version 2, so that the version that all must know stays 2.
UPDATE tp_meta SET value = '6' WHERE name = 'schema_latest' AND value = '5';

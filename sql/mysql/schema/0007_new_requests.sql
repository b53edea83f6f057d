-- taskpool schema, version 7, for MySQL 8.0.13 and MariaDB 10.6 and later.
-- mariadb DATABASE < 0007_new_requests.sql   or: taskpool schema install. After version 6.
-- Safe to run again; drops nothing. For another prefix replace tp_ throughout.

-- Libraries that know version 2 only go on working.
UPDATE tp_meta SET value = '7' WHERE name = 'schema_latest' AND value = '6';

-- A request is running only inside the transaction that carries it out. Who may ask may insert: without this he could insert one that runs
-- for good, and libraries that know no requests would be hindered no more (tp_history_eyes of version 5).
-- Two rows where one is to be are an error, as in the trigger of version 5. Privileges as for the triggers of version 4.
CREATE TRIGGER /*!80029 IF NOT EXISTS */ /*M!100600 IF NOT EXISTS */ tp_request_new BEFORE INSERT ON tp_request
  FOR EACH ROW SET NEW.state = CASE WHEN NEW.state = 'waiting' THEN NEW.state ELSE (SELECT 'to wait' UNION ALL SELECT 'is new') END;

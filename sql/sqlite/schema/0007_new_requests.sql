-- taskpool schema, version 7, for SQLite 3.38 and later.
-- sqlite3 -bail -cmd '.timeout 10000' FILE < 0007_new_requests.sql   or: taskpool schema install. After version 6.
-- Safe to run again; drops nothing. For another prefix replace tp_ throughout.

-- Libraries that know version 2 only go on working.
UPDATE tp_meta SET value = '7' WHERE name = 'schema_latest' AND value = '6';

-- A request is running only inside the transaction that carries it out. Who may ask may insert: without this he could insert one that runs
-- for good, and libraries that know no requests would be hindered no more (tp_history_eyes of version 5).
CREATE TRIGGER IF NOT EXISTS tp_request_new BEFORE INSERT ON tp_request WHEN NEW.state <> 'waiting'
BEGIN SELECT RAISE(ABORT, 'a new request waits for a second person'); END;

-- A producer needs no library: an INSERT is a task. These statements run unchanged on every database that has
-- the pool's tables (taskpool schema install):
--   sqlite3 tasks.db < producer.sql
--   psql -d DATABASE -f producer.sql
--   mariadb DATABASE < producer.sql
--   sqlplus USER @producer.sql

-- What the handler is called and what it needs; everything else has a default. Due at once.
INSERT INTO tp_pending (handler, params) VALUES ('points', '{"order":7,"points":100}');

-- About which business row, and sooner than others.
INSERT INTO tp_pending (handler, biz_key, priority, params) VALUES ('mail', 'order-7', -10, '{"to":"ann@example.com"}');

-- At most one open task per dedup_key: while this one is open, a second INSERT with the key is refused as a
-- duplicate.
INSERT INTO tp_pending (handler, biz_key, dedup_key, params) VALUES ('pay', 'E00001', '2026-11/E00001', '{"amount":"1234.56"}');

-- In the transaction that makes the order, the task is there exactly when the order is:
--   BEGIN;  (Oracle: nothing)
--   INSERT INTO orders ...
--   INSERT INTO tp_pending ...
--   COMMIT;

-- Already there is no mistake:
--   SQLite, PostgreSQL   INSERT INTO tp_pending (...) VALUES (...) ON CONFLICT DO NOTHING;
--   MySQL, MariaDB       INSERT INTO tp_pending (...) VALUES (...) ON DUPLICATE KEY UPDATE handler = handler;
--   Oracle               catch DUP_VAL_ON_INDEX

-- Due in an hour. Times are milliseconds since 1970, UTC:
--   SQLite
--     INSERT INTO tp_pending (handler, due_at)
--     VALUES ('mail', CAST((julianday('now', '+1 hour') - 2440587.5) * 86400000 AS INTEGER));
--   PostgreSQL
--     INSERT INTO tp_pending (handler, due_at)
--     VALUES ('mail', CAST(EXTRACT(EPOCH FROM clock_timestamp() + INTERVAL '1 hour') * 1000 AS BIGINT));
--   MySQL, MariaDB
--     INSERT INTO tp_pending (handler, due_at)
--     VALUES ('mail', TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3) + INTERVAL 1 HOUR) DIV 1000);
--   Oracle
--     INSERT INTO tp_pending (handler, due_at) VALUES ('mail', tp_now() + 3600000);

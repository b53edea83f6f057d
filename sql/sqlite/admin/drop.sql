-- Removes the pool and every task in it. For another prefix replace tp_ throughout. Nothing in taskpool runs this.
DROP VIEW IF EXISTS tp_running;
DROP VIEW IF EXISTS tp_failures;
DROP VIEW IF EXISTS tp_throughput;
DROP VIEW IF EXISTS tp_tasks;
DROP TABLE IF EXISTS tp_pending;
DROP TABLE IF EXISTS tp_finished;
DROP TABLE IF EXISTS tp_failed;
DROP TABLE IF EXISTS tp_history;
DROP TABLE IF EXISTS tp_once;
DROP TABLE IF EXISTS tp_schedule;
DROP TABLE IF EXISTS tp_calendar_day;
DROP TABLE IF EXISTS tp_calendar;
DROP TABLE IF EXISTS tp_worker;
DROP TABLE IF EXISTS tp_pause;
DROP TABLE IF EXISTS tp_activity;
DROP TABLE IF EXISTS tp_meta;

-- Removes the pool and every task in it. For another prefix replace tp_ throughout. Nothing in taskpool runs this.
DROP VIEW tp_running;
DROP VIEW tp_failures;
DROP VIEW tp_throughput;
DROP VIEW tp_tasks;
DROP TABLE tp_pending;
DROP TABLE tp_finished;
DROP TABLE tp_failed;
DROP TABLE tp_history;
DROP TABLE tp_once;
DROP TABLE tp_schedule;
DROP TABLE tp_calendar_day;
DROP TABLE tp_calendar;
DROP TABLE tp_worker;
DROP TABLE tp_pause;
DROP TABLE tp_activity;
DROP TABLE tp_meta;

-- taskpool schema, version 2, for Oracle Database 11.2 and later.
-- sqlplus USER @0002_functions.sql @0002_services.sql   or: taskpool schema install. After version 1.
-- Drops nothing. For another prefix replace tp_ throughout.

-- What happened to tasks besides being claimed and done: failures, lapsed leases, what operators did. alert_at: when
-- somebody is still to be told that the task gave up.
CREATE TABLE tp_history (
  id VARCHAR2(36) NOT NULL,
  task_id VARCHAR2(36),
  handler VARCHAR2(64),
  event VARCHAR2(8) NOT NULL,
  attempt NUMBER(10),
  owner VARCHAR2(36),
  who VARCHAR2(128),
  reason VARCHAR2(512),
  created_at NUMBER(19) NOT NULL,
  alert_at NUMBER(19),
  CONSTRAINT tp_history_pk PRIMARY KEY (id)
);

-- The idempotency ledger: what was done already. owner: the try that did it.
CREATE TABLE tp_once (
  once_key VARCHAR2(128) NOT NULL,
  handler VARCHAR2(64),
  task_id VARCHAR2(36),
  owner VARCHAR2(36) NOT NULL,
  created_at NUMBER(19) NOT NULL,
  CONSTRAINT tp_once_pk PRIMARY KEY (once_key)
);

-- Rules by which tasks are made. next_at: the next planned time, absent when there is none.
CREATE TABLE tp_schedule (
  name VARCHAR2(64) NOT NULL,
  rule VARCHAR2(200) NOT NULL,
  time_zone VARCHAR2(64),
  handler VARCHAR2(64) NOT NULL,
  params CLOB,
  biz_key VARCHAR2(128),
  shard NUMBER(10) NOT NULL,
  priority NUMBER(5) NOT NULL,
  max_failures NUMBER(10),
  missed VARCHAR2(8) NOT NULL,
  missed_max NUMBER(10) NOT NULL,
  alone NUMBER(5) NOT NULL,
  paused NUMBER(5) NOT NULL,
  next_at NUMBER(19),
  last_at NUMBER(19),
  last_task VARCHAR2(36),
  created_at NUMBER(19) NOT NULL,
  modified_at NUMBER(19) NOT NULL,
  CONSTRAINT tp_schedule_pk PRIMARY KEY (name)
);

-- Workers, for people to look at; nothing is decided by it but whether to take to leases after a death.
CREATE TABLE tp_worker (
  id VARCHAR2(36) NOT NULL,
  name VARCHAR2(128) NOT NULL,
  host VARCHAR2(128) NOT NULL,
  pid NUMBER(10) NOT NULL,
  handlers VARCHAR2(512) NOT NULL,
  plan VARCHAR2(8) NOT NULL,
  threads NUMBER(10) NOT NULL,
  state VARCHAR2(8) NOT NULL,
  running NUMBER(10) NOT NULL,
  claimed NUMBER(19) NOT NULL,
  done NUMBER(19) NOT NULL,
  failed NUMBER(19) NOT NULL,
  started_at NUMBER(19) NOT NULL,
  seen_at NUMBER(19) NOT NULL,
  CONSTRAINT tp_worker_pk PRIMARY KEY (id)
);

-- Handlers whose tasks are not to be claimed.
CREATE TABLE tp_pause (
  handler VARCHAR2(64) NOT NULL,
  who VARCHAR2(128),
  reason VARCHAR2(512),
  created_at NUMBER(19) NOT NULL,
  CONSTRAINT tp_pause_pk PRIMARY KEY (handler)
);

CREATE INDEX tp_history_task ON tp_history (task_id, created_at);
CREATE INDEX tp_history_alert ON tp_history (alert_at);
CREATE INDEX tp_history_age ON tp_history (created_at);
CREATE INDEX tp_once_age ON tp_once (created_at);
CREATE INDEX tp_schedule_next ON tp_schedule (next_at);
CREATE INDEX tp_worker_seen ON tp_worker (seen_at);

-- By age, so that deleting the oldest reads no others. In a pool with much history this takes its time.
CREATE INDEX tp_finished_age ON tp_finished (settled_at);
CREATE INDEX tp_failed_age ON tp_failed (settled_at);

-- What a claim reads that asks for some shards only.
CREATE INDEX tp_pending_shd ON tp_pending (handler, shard, priority, due_at, id);

UPDATE tp_meta SET value = '2' WHERE name = 'schema' AND value = '1';

-- taskpool schema, version 8, its first part, for MySQL 8.0.13 and MariaDB 10.6 and later.
-- mariadb DATABASE < 0008_gates.sql   or: taskpool schema install. After version 7; 0008_steps.sql is to follow.
-- Safe to run again; drops nothing. For another prefix replace tp_ throughout.

-- Gates (docs/gates.md). width: how many tasks are let through at a time. on_failure: block, while a task that failed for good stays in the
-- failed pool its place is taken; pass: the next comes. name: = and the key, of an order key; = alone says how those are made. next_place:
-- grows with each change, all of which lock this row. let_through: how many of tp_gate_task have passed.
CREATE TABLE IF NOT EXISTS tp_gate (
  name VARCHAR(129) NOT NULL,
  width INTEGER NOT NULL,
  on_failure VARCHAR(8) NOT NULL,
  next_place BIGINT NOT NULL,
  let_through INTEGER NOT NULL,
  changed_by VARCHAR(128),
  created_at BIGINT NOT NULL,
  modified_at BIGINT NOT NULL,
  CONSTRAINT tp_gate_pk PRIMARY KEY (name),
  CONSTRAINT tp_gate_failure CHECK (on_failure IN ('block', 'pass'))
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The tasks behind each gate, in the order in which their enqueues committed. passed: 1 from when the gate let it through until it ends.
CREATE TABLE IF NOT EXISTS tp_gate_task (
  task_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  gate VARCHAR(129) NOT NULL,
  place BIGINT NOT NULL,
  passed SMALLINT NOT NULL,
  CONSTRAINT tp_gate_task_pk PRIMARY KEY (task_id),
  INDEX tp_gate_task_next (passed, gate, place)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- A change of a table waits for the transactions that use it, and all that come after wait behind it: rather than hold up workers for long
-- it fails, and is run again.
SET @tp_wait = CAST(COALESCE(@tp_wait, @@SESSION.lock_wait_timeout) AS UNSIGNED);
SET SESSION lock_wait_timeout = 5;

-- The gate that a task is behind; absent from nearly all. One that waits is due at the end of time, and wanted_at says when it wants to be.
-- Libraries that know version 2 only go on working: the maintenance of a newer worker lets through what they leave behind a gate.
/*!80000 SET @tp_column = (SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE tp_pending ADD COLUMN gate VARCHAR(129)')
  FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'tp_pending' AND column_name = 'gate') */;
/*!80000 PREPARE tp_column FROM @tp_column */;
/*!80000 EXECUTE tp_column */;
/*M! ALTER TABLE tp_pending ADD COLUMN */ /*M!100600 IF NOT EXISTS */ /*M! gate VARCHAR(129) */;
/*!80000 SET @tp_column = (SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE tp_finished ADD COLUMN gate VARCHAR(129)')
  FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'tp_finished' AND column_name = 'gate') */;
/*!80000 PREPARE tp_column FROM @tp_column */;
/*!80000 EXECUTE tp_column */;
/*M! ALTER TABLE tp_finished ADD COLUMN */ /*M!100600 IF NOT EXISTS */ /*M! gate VARCHAR(129) */;
/*!80000 SET @tp_column = (SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE tp_failed ADD COLUMN gate VARCHAR(129)')
  FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'tp_failed' AND column_name = 'gate') */;
/*!80000 PREPARE tp_column FROM @tp_column */;
/*!80000 EXECUTE tp_column */;
/*M! ALTER TABLE tp_failed ADD COLUMN */ /*M!100600 IF NOT EXISTS */ /*M! gate VARCHAR(129) */;

SET SESSION lock_wait_timeout = @tp_wait;
SET @tp_wait = NULL;

-- How gates of order keys are made.
INSERT IGNORE INTO tp_gate (name, width, on_failure, next_place, let_through, created_at, modified_at) VALUES ('=', 1, 'block', 0, 0, 0, 0);

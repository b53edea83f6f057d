-- taskpool schema, version 9, the part of results, for MySQL 8.0.13 and MariaDB 10.6 and later.
-- mariadb DATABASE < 0009_results.sql   or: taskpool schema install. After version 8; the other parts of version 9 are to follow.
-- Safe to run again; drops nothing. For another prefix replace tp_ throughout.

-- How far runs of handlers are (docs/results.md), each written and removed in transactions of its own. owner: the claim that runs; of one
-- that is over a row may be left, which workers remove. percent: -1 when only a message was given.
CREATE TABLE IF NOT EXISTS tp_progress (
  task_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  owner CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  percent SMALLINT NOT NULL,
  message VARCHAR(512),
  modified_at BIGINT NOT NULL,
  CONSTRAINT tp_progress_pk PRIMARY KEY (task_id, owner)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- A change of a table waits for the transactions that use it, and all that come after wait behind it: rather than hold up workers for long
-- it fails, and is run again.
SET @tp_wait = CAST(COALESCE(@tp_wait, @@SESSION.lock_wait_timeout) AS UNSIGNED);
SET SESSION lock_wait_timeout = 5;

-- What a task that is done gave back; absent from nearly all.
/*!80000 SET @tp_column = (SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE tp_finished ADD COLUMN result LONGTEXT')
  FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'tp_finished' AND column_name = 'result') */;
/*!80000 PREPARE tp_column FROM @tp_column */;
/*!80000 EXECUTE tp_column */;
/*M! ALTER TABLE tp_finished ADD COLUMN */ /*M!100600 IF NOT EXISTS */ /*M! result LONGTEXT */;

SET SESSION lock_wait_timeout = @tp_wait;
SET @tp_wait = NULL;

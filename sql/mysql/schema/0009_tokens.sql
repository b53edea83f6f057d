-- taskpool schema, version 9, a part of it, for MySQL 8.0.13 and MariaDB 10.6 and later.
-- mariadb DATABASE < 0009_tokens.sql   or: taskpool schema install. After version 8; 0009_version.sql is to follow.
-- Safe to run again; drops nothing. For another prefix replace tp_ throughout.

-- A change of a table waits for the transactions that use it, and all that come after wait behind it: rather than hold up workers for long
-- it fails, and is run again.
SET @tp_wait = CAST(COALESCE(@tp_wait, @@SESSION.lock_wait_timeout) AS UNSIGNED);
SET SESSION lock_wait_timeout = 5;

-- Tokens and patterns of gates (docs/gates.md). tokens: how many tasks may have run in any period_ms; absent where there is no such limit.
-- held: of tasks that ended within the last period, so many tokens a time of their end: TIME:COUNT TIME:COUNT, in milliseconds since 1970.
-- token_at: when the next comes back, while tasks may wait for it. pattern: the gate by which this one was made, = for those of order keys,
-- tenant-* for tenant-42; absent from those that people made.
/*!80000 SET @tp_column = (SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE tp_gate ADD COLUMN tokens INTEGER')
  FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'tp_gate' AND column_name = 'tokens') */;
/*!80000 PREPARE tp_column FROM @tp_column */;
/*!80000 EXECUTE tp_column */;
/*M! ALTER TABLE tp_gate ADD COLUMN */ /*M!100600 IF NOT EXISTS */ /*M! tokens INTEGER */;
/*!80000 SET @tp_column = (SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE tp_gate ADD COLUMN period_ms BIGINT')
  FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'tp_gate' AND column_name = 'period_ms') */;
/*!80000 PREPARE tp_column FROM @tp_column */;
/*!80000 EXECUTE tp_column */;
/*M! ALTER TABLE tp_gate ADD COLUMN */ /*M!100600 IF NOT EXISTS */ /*M! period_ms BIGINT */;
/*!80000 SET @tp_column = (SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE tp_gate ADD COLUMN held VARCHAR(1500)')
  FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'tp_gate' AND column_name = 'held') */;
/*!80000 PREPARE tp_column FROM @tp_column */;
/*!80000 EXECUTE tp_column */;
/*M! ALTER TABLE tp_gate ADD COLUMN */ /*M!100600 IF NOT EXISTS */ /*M! held VARCHAR(1500) */;
/*!80000 SET @tp_column = (SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE tp_gate ADD COLUMN token_at BIGINT')
  FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'tp_gate' AND column_name = 'token_at') */;
/*!80000 PREPARE tp_column FROM @tp_column */;
/*!80000 EXECUTE tp_column */;
/*M! ALTER TABLE tp_gate ADD COLUMN */ /*M!100600 IF NOT EXISTS */ /*M! token_at BIGINT */;
/*!80000 SET @tp_column = (SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE tp_gate ADD COLUMN pattern VARCHAR(129)')
  FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'tp_gate' AND column_name = 'pattern') */;
/*!80000 PREPARE tp_column FROM @tp_column */;
/*!80000 EXECUTE tp_column */;
/*M! ALTER TABLE tp_gate ADD COLUMN */ /*M!100600 IF NOT EXISTS */ /*M! pattern VARCHAR(129) */;
/*!80000 SET @tp_index = (SELECT IF(COUNT(*) > 0, 'DO 0', 'CREATE INDEX tp_gate_token ON tp_gate (token_at)')
  FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = 'tp_gate' AND index_name = 'tp_gate_token') */;
/*!80000 PREPARE tp_index FROM @tp_index */;
/*!80000 EXECUTE tp_index */;
/*M! CREATE INDEX */ /*M!100600 IF NOT EXISTS */ /*M! tp_gate_token ON tp_gate (token_at) */;
/*!80000 SET @tp_index = (SELECT IF(COUNT(*) > 0, 'DO 0', 'CREATE INDEX tp_gate_pattern ON tp_gate (pattern)')
  FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = 'tp_gate' AND index_name = 'tp_gate_pattern') */;
/*!80000 PREPARE tp_index FROM @tp_index */;
/*!80000 EXECUTE tp_index */;
/*M! CREATE INDEX */ /*M!100600 IF NOT EXISTS */ /*M! tp_gate_pattern ON tp_gate (pattern) */;

SET SESSION lock_wait_timeout = @tp_wait;
SET @tp_wait = NULL;

-- Those of order keys that are there.
UPDATE tp_gate SET pattern = '=' WHERE name LIKE '=_%' AND pattern IS NULL;

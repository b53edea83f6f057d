-- taskpool schema, version 9, a part of it, for PostgreSQL 12 and later.
-- psql -v ON_ERROR_STOP=1 -1 -f 0009_tokens.sql   or: taskpool schema install. After version 8; 0009_version.sql is to follow.
-- Safe to run again; drops nothing. For another prefix replace tp_ throughout.

-- A change of a table waits for the transactions that use it, and all that come after wait behind it: rather than hold up workers for long
-- it fails, and is run again. The columns have no default, so no row is written.
SET LOCAL lock_timeout = '5s';

-- Tokens and patterns of gates (docs/gates.md). tokens: how many tasks may have run in any period_ms; absent where there is no such limit.
-- held: of tasks that ended within the last period, so many tokens a time of their end: TIME:COUNT TIME:COUNT, in milliseconds since 1970.
-- token_at: when the next comes back, while tasks may wait for it. pattern: the gate by which this one was made, = for those of order keys,
-- tenant-* for tenant-42; absent from those that people made.
ALTER TABLE tp_gate ADD COLUMN IF NOT EXISTS tokens integer;
ALTER TABLE tp_gate ADD COLUMN IF NOT EXISTS period_ms bigint;
ALTER TABLE tp_gate ADD COLUMN IF NOT EXISTS held varchar(1500);
ALTER TABLE tp_gate ADD COLUMN IF NOT EXISTS token_at bigint;
ALTER TABLE tp_gate ADD COLUMN IF NOT EXISTS pattern varchar(129);
CREATE INDEX IF NOT EXISTS tp_gate_token ON tp_gate (token_at);
CREATE INDEX IF NOT EXISTS tp_gate_pattern ON tp_gate (pattern);

-- Those of order keys that are there.
UPDATE tp_gate SET pattern = '=' WHERE name LIKE '=_%' AND pattern IS NULL;

-- taskpool schema, version 9, a part of it, for SQLite 3.38 and later.
-- sqlite3 -bail -cmd '.timeout 10000' FILE < 0009_tokens.sql   or: taskpool schema install. After version 8; 0009_version.sql is to follow.
-- Drops nothing; where columns are there already it stops: taskpool schema install goes on, also with one that broke off. For another prefix replace tp_ throughout.

-- Tokens and patterns of gates (docs/gates.md). tokens: how many tasks may have run in any period_ms; absent where there is no such limit.
-- held: of tasks that ended within the last period, so many tokens a time of their end: TIME:COUNT TIME:COUNT, in milliseconds since 1970.
-- token_at: when the next comes back, while tasks may wait for it. pattern: the gate by which this one was made, = for those of order keys,
-- tenant-* for tenant-42; absent from those that people made.
ALTER TABLE tp_gate ADD COLUMN tokens INTEGER;
ALTER TABLE tp_gate ADD COLUMN period_ms BIGINT;
ALTER TABLE tp_gate ADD COLUMN held VARCHAR(1500);
ALTER TABLE tp_gate ADD COLUMN token_at BIGINT;
ALTER TABLE tp_gate ADD COLUMN pattern VARCHAR(129);
CREATE INDEX IF NOT EXISTS tp_gate_token ON tp_gate (token_at);
CREATE INDEX IF NOT EXISTS tp_gate_pattern ON tp_gate (pattern);

-- Those of order keys that are there.
UPDATE tp_gate SET pattern = '=' WHERE name LIKE '=_%' AND pattern IS NULL;

-- taskpool schema, version 9, a part of it, for Oracle Database 11.2 and later.
-- sqlplus USER @0009_tokens.sql   or: taskpool schema install. After version 8; 0009_version.sql is to follow.
-- Drops nothing. For another prefix replace tp_ throughout.

-- Tokens and patterns of gates (docs/gates.md). tokens: how many tasks may have run in any period_ms; absent where there is no such limit.
-- held: of tasks that ended within the last period, so many tokens a time of their end: TIME:COUNT TIME:COUNT, in milliseconds since 1970.
-- token_at: when the next comes back, while tasks may wait for it. pattern: the gate by which this one was made, = for those of order keys,
-- tenant-* for tenant-42; absent from those that people made.
ALTER TABLE tp_gate ADD (tokens NUMBER(10));
ALTER TABLE tp_gate ADD (period_ms NUMBER(19));
ALTER TABLE tp_gate ADD (held VARCHAR2(1500));
ALTER TABLE tp_gate ADD (token_at NUMBER(19));
ALTER TABLE tp_gate ADD (pattern VARCHAR2(129));
CREATE INDEX tp_gate_token ON tp_gate (token_at);
CREATE INDEX tp_gate_pattern ON tp_gate (pattern);

-- Those of order keys that are there.
UPDATE tp_gate SET pattern = '=' WHERE name LIKE '=_%' AND pattern IS NULL;

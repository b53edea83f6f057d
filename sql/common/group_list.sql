-- All groups.
SELECT name, state, rule, parent, cancelled, created_at, closed_at, ended_at FROM tp_group ORDER BY name

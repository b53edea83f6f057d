-- One group, as group_list has it.
SELECT name, state, rule, parent, cancelled, created_at, closed_at, ended_at FROM tp_group WHERE name = :name

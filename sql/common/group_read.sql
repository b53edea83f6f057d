-- One group.
SELECT state, rule, parent, cancelled, seen_id FROM tp_group WHERE name = :name

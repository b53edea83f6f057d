-- Keeps a group from being closed or ended until the transaction ends. What it reads is so by now, at whatever level.
SELECT state, rule, parent, cancelled, seen_id FROM tp_group WHERE name = :name {lock_share}

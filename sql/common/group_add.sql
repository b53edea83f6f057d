-- A new group.
INSERT INTO tp_group (name, state, rule, parent, cancelled, seen_id, created_at, modified_at)
VALUES (:name, 'open', :rule, :parent, 0, '00000000-0000-0000-0000-000000000000', {value_now}, {value_now})
{unless_there}

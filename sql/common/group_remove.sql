-- A group that has ended goes.
DELETE FROM tp_group WHERE name = :name AND state = 'over'

-- Locks a group unless another has it.
SELECT name FROM tp_group WHERE name = :name {lock_skip}

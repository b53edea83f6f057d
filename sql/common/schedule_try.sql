-- Locks a schedule unless another session has it.
SELECT name FROM tp_schedule WHERE name = :name {lock_skip}

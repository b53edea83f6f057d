-- As gate_count, by a locking read: the level of the transaction may show what was. All rows of a gate change under its own lock.
{committed SELECT COUNT(*) AS tasks FROM tp_gate_task WHERE gate = :name AND passed = 1}

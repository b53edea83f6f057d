-- As gate_next, by a locking read: a transaction that began before sees who waits now. See find_any_locking.
{committed SELECT task_id FROM tp_gate_task WHERE gate = :name AND passed = 0 ORDER BY place {first_n_end}}

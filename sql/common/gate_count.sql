-- How many tasks a gate has let through that have not ended, counted anew.
SELECT COUNT(*) AS tasks FROM tp_gate_task WHERE gate = :name AND passed = 1

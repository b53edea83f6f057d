-- The tasks behind a gate, for people: those that wait at it, and those that it let through and that keep their place.
SELECT task_id FROM tp_gate_task WHERE passed = 0 AND gate = :gate
UNION ALL
SELECT task_id FROM tp_gate_task WHERE passed = 1 AND gate = :gate

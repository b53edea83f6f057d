-- Who is next at a gate.
{first_n}
SELECT task_id FROM tp_gate_task WHERE gate = :name AND passed = 0 ORDER BY place
{first_n_end}

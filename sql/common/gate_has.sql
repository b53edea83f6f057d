-- Has the task a place at a gate?
SELECT passed FROM tp_gate_task WHERE task_id = :id

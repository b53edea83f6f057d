-- A task that waited at its gate has left the pool.
DELETE FROM tp_gate_task WHERE task_id = :id AND passed = 0

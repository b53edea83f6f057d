-- A task that was let through has ended.
DELETE FROM tp_gate_task WHERE task_id = :id AND passed = 1

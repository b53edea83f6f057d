-- Notes that a task was let through.
UPDATE tp_gate_task SET passed = 1 WHERE task_id = :id AND passed = 0

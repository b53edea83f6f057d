-- A task is behind its gate no more.
DELETE FROM tp_gate_task WHERE task_id = :id

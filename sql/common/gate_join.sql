-- A task comes behind a gate, in the last place.
INSERT INTO tp_gate_task (task_id, gate, place, passed) VALUES (:id, :name, :place, 0)

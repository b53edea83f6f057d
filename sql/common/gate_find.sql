-- One gate, as gate_list has it.
SELECT door.name, door.width, door.on_failure,
       (SELECT COUNT(*) FROM tp_gate_task through WHERE through.gate = door.name AND through.passed = 1) AS through_count,
       (SELECT COUNT(*) FROM tp_gate_task waits WHERE waits.gate = door.name AND waits.passed = 0) AS waiting_count,
       door.modified_at, door.changed_by
FROM tp_gate door WHERE door.name = :name

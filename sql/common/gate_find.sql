-- One gate, with what is behind it. Of a pattern also what is behind those that it made.
SELECT door.name, door.width, door.on_failure,
       (SELECT COUNT(*) FROM tp_gate_task through WHERE through.gate = door.name AND through.passed = 1)
       + (SELECT COUNT(*) FROM tp_gate made JOIN tp_gate_task through ON through.gate = made.name AND through.passed = 1
          WHERE made.pattern = door.name) AS through_count,
       (SELECT COUNT(*) FROM tp_gate_task waits WHERE waits.gate = door.name AND waits.passed = 0)
       + (SELECT COUNT(*) FROM tp_gate made JOIN tp_gate_task waits ON waits.gate = made.name AND waits.passed = 0
          WHERE made.pattern = door.name) AS waiting_count,
       door.modified_at, door.changed_by, door.tokens, door.period_ms, door.held, door.token_at, door.pattern,
       {result {now_number}} AS now_ms
FROM tp_gate door WHERE door.name = :name

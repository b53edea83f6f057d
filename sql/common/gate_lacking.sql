-- Gates to be mended: of a task that was let through and ended nobody knew, places are free while tasks wait, or let_through is not what
-- the places say. Those that wait for a token have no place free before it comes.
SELECT waits.gate AS name FROM tp_gate_task waits
WHERE waits.passed = 1
  AND NOT EXISTS (SELECT 1 FROM tp_pending task WHERE task.id = waits.task_id)
  AND NOT EXISTS (SELECT 1 FROM tp_failed bad JOIN tp_gate gate ON gate.on_failure = 'block' WHERE bad.id = waits.task_id AND gate.name = waits.gate)
UNION
SELECT gate.name FROM tp_gate gate
WHERE (gate.let_through < gate.width AND (gate.token_at IS NULL OR gate.token_at <= {now})
       AND EXISTS (SELECT 1 FROM tp_gate_task waits WHERE waits.gate = gate.name AND waits.passed = 0))
   OR gate.let_through <> (SELECT COUNT(*) FROM tp_gate_task through WHERE through.gate = gate.name AND through.passed = 1)

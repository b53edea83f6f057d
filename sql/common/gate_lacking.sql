-- Gates to be mended: of a task that was let through and ended nobody knew, places are free while tasks wait, or let_through is not what
-- the places say. Those that wait for a token have no place free before it comes.
SELECT waits.gate AS name FROM tp_gate_task waits
WHERE waits.passed = 1
  AND NOT EXISTS (SELECT 1 FROM tp_pending task WHERE task.id = waits.task_id)
  AND NOT EXISTS (SELECT 1 FROM tp_failed bad JOIN tp_gate door ON door.on_failure = 'block' WHERE bad.id = waits.task_id AND door.name = waits.gate)
UNION
SELECT door.name FROM tp_gate door
WHERE (door.let_through < door.width AND (door.token_at IS NULL OR door.token_at <= {now})
       AND EXISTS (SELECT 1 FROM tp_gate_task waits WHERE waits.gate = door.name AND waits.passed = 0))
   OR door.let_through <> (SELECT COUNT(*) FROM tp_gate_task through WHERE through.gate = door.name AND through.passed = 1)

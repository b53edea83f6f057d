-- Tasks that a gate has let through and that have ended, settled by a library that knows no gates, purged, or removed by hand; and those of the
-- failed pool where failures pass.
SELECT waits.task_id FROM tp_gate_task waits
WHERE waits.gate = :name AND waits.passed = 1
  AND NOT EXISTS (SELECT 1 FROM tp_pending task WHERE task.id = waits.task_id)
  AND NOT EXISTS (SELECT 1 FROM tp_failed bad JOIN tp_gate gate ON gate.name = :name AND gate.on_failure = 'block' WHERE bad.id = waits.task_id)

-- Gates that have let too few through: as in gate_gone, or with room beside tasks that wait.
SELECT waits.gate AS name FROM tp_gate_task waits
WHERE waits.passed = 1
  AND NOT EXISTS (SELECT 1 FROM tp_pending task WHERE task.id = waits.task_id)
  AND NOT EXISTS (SELECT 1 FROM tp_failed bad JOIN tp_gate door ON door.on_failure = 'block' WHERE bad.id = waits.task_id AND door.name = waits.gate)
UNION
SELECT door.name FROM tp_gate door
WHERE door.name NOT LIKE '=%' AND door.let_through < door.width
  AND EXISTS (SELECT 1 FROM tp_gate_task waits WHERE waits.gate = door.name AND waits.passed = 0)

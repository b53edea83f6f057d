-- Gates that have let too few through: as in gate_gone, or with room beside tasks that wait.
SELECT waits.gate AS name FROM tp_gate_task waits JOIN tp_gate door ON door.name = waits.gate
       LEFT JOIN tp_pending task ON task.id = waits.task_id LEFT JOIN tp_failed bad ON bad.id = waits.task_id
WHERE waits.passed = 1 AND task.id IS NULL AND (bad.id IS NULL OR door.on_failure = 'pass')
UNION
SELECT door.name FROM tp_gate door
WHERE door.name NOT LIKE '=%' AND EXISTS (SELECT 1 FROM tp_gate_task waits WHERE waits.gate = door.name AND waits.passed = 0)
  AND (SELECT COUNT(*) FROM tp_gate_task through WHERE through.gate = door.name AND through.passed = 1) < door.width

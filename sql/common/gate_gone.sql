-- Tasks that a gate has let through and that have ended, settled by a library that knows no gates, purged, or removed by hand.
SELECT waits.task_id FROM tp_gate_task waits JOIN tp_gate door ON door.name = waits.gate
       LEFT JOIN tp_pending task ON task.id = waits.task_id LEFT JOIN tp_failed bad ON bad.id = waits.task_id
WHERE waits.gate = :name AND waits.passed = 1 AND task.id IS NULL AND (bad.id IS NULL OR door.on_failure = 'pass')

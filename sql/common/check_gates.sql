-- Tasks that wait at a gate which does not know them: nothing lets them through.
SELECT COUNT(*), MIN(CAST(task.id AS CHAR(36))) FROM tp_pending task
WHERE task.gate NOT LIKE '>%' AND task.due_at = 253402300799999
  AND NOT EXISTS (SELECT 1 FROM tp_gate_task waits WHERE waits.task_id = task.id)

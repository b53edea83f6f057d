-- Gates at which tasks wait while nothing goes on behind them: all that was let through stands in the failed pool, for long.
SELECT COUNT(*), MIN(gate.name) FROM tp_gate gate
WHERE gate.let_through > 0 AND gate.let_through >= gate.width
  AND EXISTS (SELECT 1 FROM tp_gate_task waits WHERE waits.passed = 0 AND waits.gate = gate.name)
  AND EXISTS (SELECT 1 FROM tp_gate_task held JOIN tp_failed bad ON bad.id = held.task_id
              WHERE held.passed = 1 AND held.gate = gate.name AND bad.settled_at < :before)
  AND NOT EXISTS (SELECT 1 FROM tp_gate_task going JOIN tp_pending task ON task.id = going.task_id
                  WHERE going.passed = 1 AND going.gate = gate.name)

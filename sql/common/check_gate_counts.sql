-- Gates whose row counts other tasks than have places.
SELECT COUNT(*), MIN(gate.name) FROM tp_gate gate
WHERE gate.let_through <> (SELECT COUNT(*) FROM tp_gate_task through WHERE through.gate = gate.name AND through.passed = 1)

-- Gates whose row counts other tasks than have places.
SELECT COUNT(*), MIN(door.name) FROM tp_gate door
WHERE door.let_through <> (SELECT COUNT(*) FROM tp_gate_task through WHERE through.gate = door.name AND through.passed = 1)

-- Removes a gate that nothing is behind.
DELETE FROM tp_gate WHERE name = :name

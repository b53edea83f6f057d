-- One gate.
{gate_lines} WHERE door.name = :name

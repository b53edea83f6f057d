-- One gate.
{gate_lines} WHERE gate.name = :name

-- The gates that people made, and the row =.
{gate_lines} WHERE gate.pattern IS NULL AND (gate.name = '=' OR gate.name NOT LIKE '=%') ORDER BY gate.name

-- The gates that people made, and the row =.
{gate_lines} WHERE door.pattern IS NULL AND (door.name = '=' OR door.name NOT LIKE '=%') ORDER BY door.name

-- The database's own clock, as text in UTC, for dialects that cannot turn it into a number.
SELECT CURRENT_TIMESTAMP FROM tp_meta WHERE name = 'schema'

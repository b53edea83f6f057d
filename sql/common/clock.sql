-- The database's own clock, as text; the session's time zone is UTC. For dialects that cannot turn it into a number.
SELECT CURRENT_TIMESTAMP FROM tp_meta WHERE name = 'schema'

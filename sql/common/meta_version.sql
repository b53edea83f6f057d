-- The versions of the schema: the one that a library must know, and since version 3 the one that is installed.
SELECT name, value FROM tp_meta WHERE name IN ('schema', 'schema_latest')

-- The version of the schema that is installed.
SELECT value FROM tp_meta WHERE name = 'schema'

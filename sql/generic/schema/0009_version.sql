-- taskpool schema, version 9, its last part, for any database with standard SQL types. After the other parts of version 9.
-- Drops nothing. For another prefix replace tp_ throughout.

-- Libraries that know version 2 only go on working.
UPDATE tp_meta SET value = '9' WHERE name = 'schema_latest' AND value = '8';

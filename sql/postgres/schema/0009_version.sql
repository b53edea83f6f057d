-- taskpool schema, version 9, its last part, for PostgreSQL 12 and later.
-- psql -v ON_ERROR_STOP=1 -1 -f 0009_version.sql   or: taskpool schema install. After the other parts of version 9.
-- Safe to run again; drops nothing. For another prefix replace tp_ throughout.

-- Libraries that know version 2 only go on working.
UPDATE tp_meta SET value = '9' WHERE name = 'schema_latest' AND value = '8';

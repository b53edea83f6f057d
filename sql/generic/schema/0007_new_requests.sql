-- taskpool schema, version 7, for any database with standard SQL types. After version 6.
-- Drops nothing. For another prefix replace tp_ throughout.

-- Libraries that know version 2 only go on working.
UPDATE tp_meta SET value = '7' WHERE name = 'schema_latest' AND value = '6';

-- Where the database has triggers, add one on tp_request that refuses a new row whose state is not waiting: who may ask may insert, and
-- could else insert one that is running, which disarms the trigger of version 5.

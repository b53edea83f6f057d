-- taskpool schema, version 7, for PostgreSQL 12 and later.
-- psql -v ON_ERROR_STOP=1 -1 -f 0007_new_requests.sql   or: taskpool schema install. After version 6.
-- Safe to run again; drops nothing. For another prefix replace tp_ throughout.

-- Libraries that know version 2 only go on working.
UPDATE tp_meta SET value = '7' WHERE name = 'schema_latest' AND value = '6';

-- A request is running only inside the transaction that carries it out. Who may ask may insert: without this he could insert one that runs
-- for good, and libraries that know no requests would be hindered no more (tp_history_eyes of version 5).
DO $$ BEGIN CREATE FUNCTION tp_request_refuse() RETURNS trigger LANGUAGE plpgsql AS
  'BEGIN RAISE EXCEPTION ''a new request waits for a second person''; END'; EXCEPTION WHEN duplicate_function OR unique_violation THEN NULL; END $$;
DO $$ BEGIN CREATE TRIGGER tp_request_new BEFORE INSERT ON tp_request FOR EACH ROW
  WHEN (NEW.state <> 'waiting')
  EXECUTE FUNCTION tp_request_refuse(); EXCEPTION WHEN duplicate_object THEN NULL; END $$;

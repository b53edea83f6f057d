-- The tables of the raw limit on PostgreSQL: what any pool of tasks needs and no more. Two partial indexes: what is free, by due
-- time, and what a token holds. psql -v bytes=N: the length of the parameters, text that cannot be compressed to nothing.
DROP TABLE IF EXISTS limit_open, limit_done, limit_params;
CREATE TABLE limit_open (
  id uuid NOT NULL PRIMARY KEY,
  handler text NOT NULL,
  params text,
  state smallint NOT NULL DEFAULT 0,
  failures integer NOT NULL DEFAULT 0,
  owner uuid,
  due_at timestamptz NOT NULL DEFAULT now(),
  created_at timestamptz NOT NULL DEFAULT now(),
  reason text,
  shard integer NOT NULL DEFAULT 0
);
CREATE INDEX limit_open_due ON limit_open (handler, due_at) WHERE owner IS NULL;
CREATE INDEX limit_open_own ON limit_open (owner) WHERE owner IS NOT NULL;
CREATE TABLE limit_done (LIKE limit_open INCLUDING DEFAULTS, PRIMARY KEY (id));
CREATE TABLE limit_params AS
SELECT left(string_agg(translate(encode(decode(md5(CAST(i AS text)), 'hex'), 'base64'), '=', ''), '' ORDER BY i), :bytes) AS params
FROM generate_series(1, :bytes / 22 + 1) AS i;

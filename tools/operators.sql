-- A large pool of PostgreSQL for tools/operators.sh: 40 handlers, one paused, one whose tasks hang; what is open, failed and finished, with
-- what workers did and what became of tasks. :open, :failed, :finished are numbers of tasks. The finished ones are of 30 days.
\set now 'CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint)'

-- An id as the library makes them: its first digits are the time.
CREATE FUNCTION pg_temp.id(at bigint, n bigint) RETURNS uuid LANGUAGE sql IMMUTABLE AS
$$ SELECT CAST(lpad(to_hex(at), 12, '0') || '7000' || lpad(to_hex(n), 16, '8000000000000000') AS uuid) $$;
CREATE FUNCTION pg_temp.handler(n bigint) RETURNS varchar LANGUAGE sql IMMUTABLE AS $$ SELECT 'handler-' || lpad(CAST(n % 40 AS varchar), 2, '0') $$;

INSERT INTO tp_finished (id, handler, biz_key, params, shard, priority, state, failures, owner, due_at, created_at, modified_at, settled_at)
SELECT pg_temp.id(at, n), pg_temp.handler(n), CASE WHEN n % 2 = 0 THEN 'C-' || n / 20 END, '{"order":' || n || '}', 0, 0,
       CASE WHEN n % 1000 = 0 THEN 'skipped' ELSE 'done' END, 0, pg_temp.id(at + 500, n % 4), at, at, at + 1000, at + 1000
FROM (SELECT n, :now - 1000 - CAST((:finished - n) * (30 * 86400000.0 / :finished) AS bigint) AS at FROM generate_series(1, :finished) n) task;

INSERT INTO tp_failed (id, handler, biz_key, params, shard, priority, state, failures, reason, owner, due_at, created_at, modified_at, settled_at)
SELECT pg_temp.id(at, 1000000000 + n), pg_temp.handler(n), 'C-' || n, '{"order":' || n || '}', 0, 0, 'failed', 4,
       'host 10.0.0.' || n % 250 || ' order ' || n || ': ' || (ARRAY['refused', 'no such account', 'timeout', 'not a number'])[1 + n % 4],
       pg_temp.id(at + 500, n % 4), at, at, at + 1000, at + 1000
FROM (SELECT n, :now - 1000 - n * 60000 AS at FROM generate_series(1, :failed) n) task;
INSERT INTO tp_history (id, task_id, handler, event, attempt, owner, reason, created_at)
SELECT pg_temp.id(settled_at, k), id, handler, 'failed', k, owner, reason, settled_at FROM tp_failed, generate_series(1, 4) k;

-- One in two is due, one in five waits for a retry; those of handler-07 are handled for hours, by workers that are not heard of.
INSERT INTO tp_pending (id, handler, biz_key, dedup_key, params, shard, state, failures, reason, owner, wanted_at, due_at, created_at, modified_at)
SELECT pg_temp.id(at, 2000000000 + n), pg_temp.handler(n), CASE WHEN n % 2 = 0 THEN 'C-' || n END, CASE WHEN n % 3 = 0 THEN 'D-' || n END,
       '{"order":' || n || '}', 0, CASE WHEN n % 40 = 7 THEN 'handling' WHEN n % 5 = 0 THEN 'failed' ELSE 'pending' END,
       CASE WHEN n % 5 = 0 THEN 1 ELSE 0 END, CASE WHEN n % 5 = 0 THEN 'host 10.0.0.' || n % 250 || ': timeout' END,
       CASE WHEN n % 40 = 7 THEN pg_temp.id(at, n % 4) END, CASE WHEN n % 40 = 7 THEN at END,
       CASE WHEN n % 2 = 0 THEN at ELSE :now + 86400000 END, at, at
FROM (SELECT n, :now - n * 50 AS at FROM generate_series(1, :open) n) task;
INSERT INTO tp_pause (handler, who, reason, created_at) SELECT 'handler-03', 'anna@db1', 'the bank is closed', :now - 7200000;

-- Four workers that are heard of now, and what they did of every handler in each minute of a week, rolled up as workers do it: by the
-- minute for six hours, by ten minutes for two days, then by the hour.
INSERT INTO tp_worker (id, name, host, pid, handlers, plan, threads, state, running, claimed, done, failed, started_at, seen_at, token_tag)
SELECT pg_temp.id(:now - 604800000, n), 'worker-' || n, 'host' || n, 100 + n, (SELECT string_agg(pg_temp.handler(k), ' ') FROM generate_series(0, 39) k),
       'skip', 8, 'running', 8, 2500000, 2490000, 10000, :now - 604800000, :now, right(CAST(pg_temp.id(0, n) AS varchar), 12)
FROM generate_series(0, 3) n;
INSERT INTO tp_activity
SELECT since + CASE minutes WHEN 1 THEN 0 ELSE minutes END, worker.id, pg_temp.handler(k), 4 * minutes, minutes, 0, 0, 0, 0,
       400 * minutes, 100, 0, 0, 5 * minutes, 0, 0, 0, 0, 0, 0, 0, 2500 * minutes, 500, 0, 0, 0, 5 * minutes, 0, 0, 0, 0, 0, 0
FROM tp_worker worker, generate_series(0, 39) k,
     (SELECT 1 AS minutes, generate_series(:now / 600000 * 600000 - 21600000, :now, 60000) AS since
      UNION ALL
      SELECT 10, generate_series(:now / 3600000 * 3600000 - 172800000, :now / 600000 * 600000 - 21600001, 600000)
      UNION ALL
      SELECT 60, generate_series(:now / 3600000 * 3600000 - 604800000, :now / 3600000 * 3600000 - 172800001, 3600000)) period;

INSERT INTO tp_schedule (name, rule, handler, shard, priority, missed, missed_max, alone, paused, next_at, created_at, modified_at)
SELECT 'schedule-' || n, '0 4 * * *', pg_temp.handler(n), 0, 0, 'once', 1, 0, 0, :now + n * 60000, :now, :now FROM generate_series(1, 40) n;
ANALYZE;

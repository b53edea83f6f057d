-- Two transactions: 500 tasks are marked with a token and read; then what the token holds moves to the finished table.
\set token random(1, 2000000000)
WITH first AS (
  SELECT id FROM limit_open WHERE owner IS NULL AND handler = 'bench' AND due_at <= now()
  ORDER BY due_at LIMIT 500 FOR UPDATE SKIP LOCKED
)
UPDATE limit_open AS task SET state = 1, owner = CAST(lpad(CAST(:token AS text), 32, '0') AS uuid)
FROM first WHERE first.id = task.id RETURNING task.id, task.params;
WITH gone AS (DELETE FROM limit_open WHERE owner = CAST(lpad(CAST(:token AS text), 32, '0') AS uuid) RETURNING *)
INSERT INTO limit_done SELECT * FROM gone;

-- The same for one task, in a transaction of its own.
BEGIN;
WITH first AS (
  SELECT id FROM limit_open WHERE owner IS NULL AND handler = 'bench' AND due_at <= now()
  ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
), gone AS (
  DELETE FROM limit_open AS task USING first WHERE first.id = task.id RETURNING task.*
)
INSERT INTO limit_done SELECT * FROM gone;
COMMIT;

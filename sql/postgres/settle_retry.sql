-- Differs because one statement writes the failure and records it. An event that a trigger of the application does not
-- let into the history is an error, so that the failure is not written either.
-- IS TRUE keeps the planner from the index of owner, by which each settle would read all tasks of the claim.
WITH put_back AS (
  UPDATE tp_pending SET state = 'failed', failures = :failures, reason = :reason,
         wanted_at = NULL,
         due_at = {now_plus delay},
         modified_at = {now}
  WHERE id = :id AND state = 'handling' AND {not_by_index owner = :token}
  RETURNING id, handler, failures, owner, reason
), recorded AS (
  INSERT INTO tp_history (id, task_id, handler, event, attempt, owner, who, reason, created_at, alert_at)
  SELECT CAST(:history_id AS uuid), id, handler, CAST(:event AS varchar), failures, owner, CAST(:who AS varchar), reason,
         {now}, NULL
  FROM put_back
  RETURNING id
)
SELECT CASE WHEN EXISTS (SELECT 1 FROM recorded) THEN 1
            ELSE CAST('a trigger or rule of your own on the history refuses ' || id AS integer) END
FROM put_back

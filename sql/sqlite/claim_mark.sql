-- Marks the row that claim_lock locked. The driver keeps what begins WITH prepared, and its rows are counted.
WITH prepared AS (SELECT 1)
UPDATE tp_pending SET state = 'handling', failures = :failures, reason = :reason, owner = :token,
       due_at = {now_plus lease},
       modified_at = {now}
WHERE id = :id
RETURNING 1

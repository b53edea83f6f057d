-- Marks the row that claim_lock locked.
{prepared}
UPDATE tp_pending SET state = 'handling', failures = :failures, reason = :reason, owner = :token,
       wanted_at = due_at,
       due_at = {now_plus lease},
       modified_at = {now}
WHERE id = :id
{prepared_end}

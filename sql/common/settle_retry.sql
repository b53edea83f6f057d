-- A failure that is not the last: due again later. The owner stays, so that the same call can be made once more.
UPDATE tp_pending SET state = 'failed', failures = :failures, reason = :reason,
       wanted_at = NULL,
       due_at = {now_plus delay},
       modified_at = {now}
WHERE id = :id AND state = 'handling' AND owner = :token

-- Back to pending without a failure. The owner stays, so that the same call can be made once more.
UPDATE tp_pending SET state = 'pending',
       wanted_at = NULL,
       due_at = {now_plus delay},
       modified_at = {now}
WHERE id = :id AND state = 'handling' AND {not_by_index owner = :token}

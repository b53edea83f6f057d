-- Takes a task if nobody changed it since claim_candidates read it. The row count says who won.
UPDATE tp_pending SET state = 'handling', failures = :failures, reason = :reason, owner = :token,
       wanted_at = due_at,
       due_at = {now_plus lease},
       modified_at = {now}
WHERE id = :id AND state = :state AND due_at = :due_at AND failures = :seen_failures
  AND modified_at = :modified_at

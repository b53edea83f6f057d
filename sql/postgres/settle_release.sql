-- Differs because the database's clock is read in the statement itself.
-- IS TRUE keeps the index of owner out: by it, each settle would read all that the claim holds.
UPDATE tp_pending SET state = 'pending',
       due_at = {now_plus delay},
       modified_at = {now}
WHERE id = :id AND state = 'handling' AND (owner = :token) IS TRUE

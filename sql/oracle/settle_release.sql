-- Differs because the database's clock is read in the statement itself, by the function tp_now.
UPDATE tp_pending SET state = 'pending',
       due_at = tp_now() + :delay_ms,
       modified_at = tp_now()
WHERE id = :id AND state = 'handling' AND owner = :token

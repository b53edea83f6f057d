-- Differs because the database's clock is read in the statement itself, by the function tp_now.
UPDATE tp_pending SET state = 'pending',
       due_at = (SELECT tp_now() FROM DUAL) + :delay_ms,
       modified_at = (SELECT tp_now() FROM DUAL)
WHERE id = :id AND state = 'handling' AND owner = :token

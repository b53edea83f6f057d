-- How many the gate has let through now, which tokens are held, and when it is to be looked at. With its row locked.
UPDATE tp_gate SET let_through = :width, held = :held, token_at = :token_at WHERE name = :name

-- How many a gate has let through that have not ended; its row is locked.
UPDATE tp_gate SET let_through = :width WHERE name = :name

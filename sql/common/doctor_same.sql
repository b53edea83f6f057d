-- Finds the row and changes nothing in it; the row must count all the same.
UPDATE tp_doctor SET state = 'pending' WHERE id = :id AND state = 'pending'

-- A guarded change, as claims and settles make it: its row count says who won.
UPDATE tp_doctor SET state = 'handling', owner = :token WHERE id = :id AND state = 'pending'

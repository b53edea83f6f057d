-- Updates a row of the doctor's table to what it is already; the driver must count it as one row all the same.
UPDATE tp_doctor SET state = 'pending' WHERE id = :id AND state = 'pending'

-- Locks rows of the doctor's table, past those that another session holds.
SELECT id FROM tp_doctor WHERE id IN (:ids) {lock_skip}

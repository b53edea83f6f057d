-- The rows that no other session holds.
SELECT id FROM tp_doctor WHERE id IN (:ids) {lock_skip}

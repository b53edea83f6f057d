-- Locks the row or is refused at once.
SELECT state FROM tp_doctor WHERE id = :id {lock_nowait}

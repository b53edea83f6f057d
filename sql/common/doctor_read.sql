-- Reads a row of the doctor's table, to see what another session's transaction has made of it.
SELECT state, due_at, reason, params FROM tp_doctor WHERE id = :id

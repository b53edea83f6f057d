-- What a session sees of the row.
SELECT state, due_at, reason, params FROM tp_doctor WHERE id = :id

-- Inserts a row to try things out on.
INSERT INTO tp_doctor (id, state, due_at, reason, params) VALUES (:id, 'pending', :due_at, :reason, :params)

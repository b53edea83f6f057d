-- Deletes a task that this transaction inserted.
DELETE FROM tp_pending WHERE id = :id

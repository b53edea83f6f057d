-- The long parameters of a task that this transaction has locked.
SELECT params FROM tp_pending WHERE id = :id AND state = :state AND due_at = :due_at AND modified_at = :modified_at

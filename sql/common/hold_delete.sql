-- The second half of the move of a task that this transaction has locked.
{prepared}
DELETE FROM tp_pending WHERE id = :id AND state = :state AND due_at = :due_at AND modified_at = :modified_at
{prepared_end}

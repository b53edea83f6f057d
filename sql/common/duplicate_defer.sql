-- Moves a task that is in no hand, and that nobody changed since it was read, to another time.
UPDATE tp_pending SET due_at = :due_at, modified_at = :at
WHERE id = :id AND state = :state AND failures = :failures AND modified_at = :modified_at

-- For tests: the times of all tasks of the pending pool (due, lease, creation, change) move into the past.
UPDATE tp_pending SET due_at = due_at - :delay_ms, wanted_at = wanted_at - :delay_ms, created_at = created_at - :delay_ms, modified_at = modified_at - :delay_ms

-- For tests: the times of all tasks of the pending pool (due, lease, creation, change) move into the past.
UPDATE tp_pending SET due_at = CASE WHEN gate IS NULL OR due_at < 253402300799999 THEN due_at - :delay_ms ELSE due_at END, wanted_at = wanted_at - :delay_ms, created_at = created_at - :delay_ms, modified_at = modified_at - :delay_ms

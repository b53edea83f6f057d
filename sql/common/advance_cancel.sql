-- For tests: all requests and deadlines move into the past.
UPDATE tp_cancel SET due_at = due_at - :delay_ms, created_at = created_at - :delay_ms

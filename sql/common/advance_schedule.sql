-- For tests: planned times and ages move into the past.
UPDATE tp_schedule SET next_at = next_at - :delay_ms, last_at = last_at - :delay_ms, created_at = created_at - :delay_ms,
       modified_at = modified_at - :delay_ms

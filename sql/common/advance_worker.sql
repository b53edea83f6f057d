-- For tests: the times of heartbeats move into the past.
UPDATE tp_worker SET started_at = started_at - :delay_ms, seen_at = seen_at - :delay_ms

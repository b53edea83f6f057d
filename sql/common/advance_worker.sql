-- Signs of life move into the past, for tests.
UPDATE tp_worker SET started_at = started_at - :delay_ms, seen_at = seen_at - :delay_ms

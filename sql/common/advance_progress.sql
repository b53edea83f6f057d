-- For tests: the times of all progress move into the past.
UPDATE tp_progress SET modified_at = modified_at - :delay_ms

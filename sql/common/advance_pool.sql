-- For tests: the times of all tasks of the {pool} pool move into the past.
UPDATE tp_{pool} SET created_at = created_at - :delay_ms, modified_at = modified_at - :delay_ms, settled_at = settled_at - :delay_ms

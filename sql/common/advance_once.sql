-- For tests: ages move into the past.
UPDATE tp_once SET created_at = created_at - :delay_ms

-- Ages move into the past, for tests.
UPDATE tp_once SET created_at = created_at - :delay_ms

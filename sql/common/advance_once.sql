-- For tests: the times of all keys of the ledger (tp_once) move into the past.
UPDATE tp_once SET created_at = created_at - :delay_ms

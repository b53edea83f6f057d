-- For tests: the times of all events of the history, and those at which alerts are due, move into the past.
UPDATE tp_history SET created_at = created_at - :delay_ms, alert_at = alert_at - :delay_ms

-- Ages, and when somebody is to be told, move into the past, for tests.
UPDATE tp_history SET created_at = created_at - :delay_ms, alert_at = alert_at - :delay_ms

-- The alert was delivered. No row: another worker took it over meanwhile.
UPDATE tp_history SET alert_at = NULL WHERE id = :history_id AND alert_at = :before

-- Somebody was told.
UPDATE tp_history SET alert_at = NULL WHERE id = :history_id AND alert_at = :before

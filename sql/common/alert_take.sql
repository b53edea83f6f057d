-- Takes the telling of one alert over for a while; the row count says whether another was faster.
UPDATE tp_history SET alert_at = :at WHERE id = :history_id AND alert_at = :before

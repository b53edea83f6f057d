-- Takes one alert over for a while, to deliver it. The row count says whether another worker was faster.
UPDATE tp_history SET alert_at = :at WHERE id = :history_id AND alert_at = :before

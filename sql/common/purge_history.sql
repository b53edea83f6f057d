-- Deletes given ones that are selected. COALESCE keeps the index of alert_at out, by which nearly all would be read.
DELETE FROM tp_history
WHERE id IN (:ids) AND COALESCE(handler, ' ') = COALESCE(:handler, handler, ' ') AND created_at <= :before AND COALESCE(alert_at, 0) = 0

-- Deletes given ones that are selected.
DELETE FROM tp_history
WHERE id IN (:ids) AND COALESCE(handler, ' ') = COALESCE(:handler, handler, ' ') AND created_at <= :before AND alert_at IS NULL

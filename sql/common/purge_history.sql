-- Deletes those of the given events that are selected. COALESCE keeps the database from the index of alert_at, by which it would read nearly all.
DELETE FROM tp_history
WHERE id IN (:ids) AND COALESCE(handler, ' ') = COALESCE(:handler, handler, ' ') AND created_at >= :since AND created_at <= :before AND COALESCE(alert_at, 0) = 0

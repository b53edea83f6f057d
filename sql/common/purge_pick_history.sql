-- Events to be deleted, the oldest first, none of which an alert is still to be told; the library stops reading at its limit.
SELECT id FROM tp_history
WHERE COALESCE(handler, ' ') = COALESCE(:handler, handler, ' ') AND created_at <= :before AND alert_at IS NULL
ORDER BY created_at

-- Deletes those of the given keys that are selected.
DELETE FROM tp_once
WHERE once_key IN (:ids) AND COALESCE(handler, ' ') = COALESCE(:handler, handler, ' ') AND created_at >= :since AND created_at <= :before

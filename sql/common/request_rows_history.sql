-- Notes the given events for a request.
INSERT INTO tp_request_row (request_id, pool, row_key, modified_at)
SELECT {as_id :id} AS request_id, 'history' AS pool, {id_text id} AS row_key, created_at AS modified_at FROM tp_history
WHERE id IN (:ids) AND COALESCE(handler, ' ') = COALESCE(:handler, handler, ' ') AND created_at >= :since AND created_at <= :before

-- Notes the given keys of the ledger for a request.
INSERT INTO tp_request_row (request_id, pool, row_key, modified_at)
SELECT {as_id :id} AS request_id, 'once' AS pool, once_key AS row_key, created_at AS modified_at FROM tp_once
WHERE once_key IN (:ids) AND COALESCE(handler, ' ') = COALESCE(:handler, handler, ' ') AND created_at >= :since AND created_at <= :before

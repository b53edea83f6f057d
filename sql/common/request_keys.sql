-- The rows of one pool that a request is about.
SELECT row_key FROM tp_request_row WHERE request_id = :id AND pool = :pool ORDER BY row_key

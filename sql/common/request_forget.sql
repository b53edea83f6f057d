-- The rows of a request that waits no more.
DELETE FROM tp_request_row WHERE request_id = :id

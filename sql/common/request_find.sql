-- One request.
SELECT {request_columns} FROM tp_request WHERE id = :id

-- Requests in one state, or all, the newest first.
{first_n}
SELECT {request_columns} FROM tp_request WHERE {given state}
ORDER BY created_at DESC, id DESC
{first_n_end}

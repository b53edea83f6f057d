-- The whole parameters of a task that the token holds.
SELECT params FROM tp_pending WHERE id = :id AND state = 'handling' AND {not_by_index owner = :token}

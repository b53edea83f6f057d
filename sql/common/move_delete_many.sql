-- The second half of a move of many: the rows leave the pending pool, if the token still holds them.
DELETE FROM tp_pending WHERE {among_ids id} AND state = 'handling' AND owner = :token

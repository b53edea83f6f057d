-- The second half of a move of many: the rows leave the pending pool, if the token still holds them.
{delete_by_primary_key} WHERE {among_ids id} AND state = 'handling' AND owner = :token

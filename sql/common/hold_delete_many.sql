-- The second half of the move of tasks that this transaction has locked and nobody marked.
{delete_by_primary_key} WHERE {among_ids id} AND state <> 'handling' AND (owner IS NULL OR owner <> :token)

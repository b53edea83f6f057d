-- Keys of the ledger to be deleted, the oldest first.
{first_n}
SELECT once_key FROM tp_once
WHERE {given_or_null handler} AND created_at >= :since AND created_at <= :before
ORDER BY created_at
{first_n_end}

-- Keys of the ledger to be deleted, the oldest first; the library stops reading at its limit.
SELECT once_key FROM tp_once
WHERE COALESCE(handler, ' ') = COALESCE(:handler, handler, ' ') AND created_at <= :before
ORDER BY created_at

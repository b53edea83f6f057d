-- Differs from find_keys as find_any_locking does from find_any.
{committed SELECT dedup_key, id FROM tp_pending WHERE dedup_key IN (:dedup_keys)}

-- As find_keys, by a locking read; see find_any_locking.
{committed SELECT dedup_key, id FROM tp_pending WHERE dedup_key IN (:dedup_keys)}

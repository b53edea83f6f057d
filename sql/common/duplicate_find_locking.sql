-- As duplicate_find, by a locking read; see find_any_locking.
{committed SELECT id, handler, state, failures, due_at, modified_at, gate FROM tp_pending WHERE dedup_key = :dedup_key}

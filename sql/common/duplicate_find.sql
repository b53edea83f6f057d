-- The open tasks with this key: one or, where the pending pool is partitioned, one of each handler.
SELECT id, handler, state, failures, due_at, modified_at, gate FROM tp_pending WHERE dedup_key = :dedup_key

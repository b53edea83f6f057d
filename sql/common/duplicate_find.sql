-- The open tasks with this key: one or, where the pending pool is partitioned, one of each handler.
SELECT id, handler, state, failures, due_at, modified_at, gate,
       (SELECT asked.due_at FROM tp_cancel asked WHERE asked.task_id = tp_pending.id AND asked.who IS NULL) AS deadline_at
FROM tp_pending WHERE dedup_key = :dedup_key

-- Differs because the database can end the page itself.
SELECT task_id, handler, event, owner, who, reason, attempt, created_at
FROM tp_history
ORDER BY created_at DESC, id DESC
LIMIT :limit

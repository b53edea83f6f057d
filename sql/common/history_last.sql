-- What happened last in the whole pool, newest first.
{first_n}
SELECT task_id, handler, event, owner, who, reason, attempt, created_at
FROM tp_history
ORDER BY created_at DESC, id DESC
{first_n_end}

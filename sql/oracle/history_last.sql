-- Differs because the page ends by ROWNUM, counted after the order.
SELECT * FROM (
SELECT task_id, handler, event, owner, who, reason, attempt, created_at
FROM tp_history
ORDER BY created_at DESC, id DESC
) WHERE ROWNUM <= :limit

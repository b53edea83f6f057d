-- A person wants these tasks again: what was asked of them is forgotten, and so are deadlines that have passed.
DELETE FROM tp_cancel WHERE {among_ids task_id} AND (who IS NOT NULL OR due_at <= {now})

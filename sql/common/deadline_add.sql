-- When these tasks, which were just put in, are of no use any more: at a time, or so long after they are first due.
INSERT INTO tp_cancel (task_id, due_at, created_at)
SELECT id,
       CASE WHEN {as_time :delay_ms} > 0 THEN CASE WHEN gate IS NULL THEN due_at ELSE wanted_at END + {as_time :delay_ms}
            ELSE {as_time :at} END AS due_at,
       created_at
FROM tp_pending WHERE {among_ids id}

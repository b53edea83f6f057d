-- Asks for the end of a task that is open, unless that was asked before. From the beginning of time on, so that clocks do not matter.
-- at: the database's clock, read before.
INSERT INTO tp_cancel (task_id, due_at, who, reason, created_at)
SELECT id, 0 AS due_at, :who AS who, :reason AS reason,
       CASE WHEN created_at > {as_time :at} THEN created_at ELSE {as_time :at} END AS created_at
FROM tp_pending WHERE id = :id AND NOT EXISTS (SELECT 1 FROM tp_cancel asked WHERE asked.task_id = :id)

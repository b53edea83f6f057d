-- Tasks behind a gate that does not know them. Of one that waits nothing lets it through; one that was let through has no place, so that
-- another may take it.
SELECT COUNT(*), MIN(CAST(task.id AS CHAR(36))) FROM tp_pending task
WHERE task.gate NOT LIKE '>%' AND NOT EXISTS (SELECT 1 FROM tp_gate_task behind WHERE behind.task_id = task.id)

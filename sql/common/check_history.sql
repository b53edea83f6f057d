-- Events of tasks that are in no pool.
SELECT COUNT(*), MIN(CAST(note.task_id AS CHAR(36))) FROM tp_history note
WHERE note.task_id IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM tp_pending task WHERE task.id = note.task_id)
  AND NOT EXISTS (SELECT 1 FROM tp_finished task WHERE task.id = note.task_id)
  AND NOT EXISTS (SELECT 1 FROM tp_failed task WHERE task.id = note.task_id)

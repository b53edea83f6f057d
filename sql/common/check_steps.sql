-- Steps of tasks that are in no pool.
SELECT COUNT(*), MIN(CAST(done.task_id AS CHAR(36))) FROM tp_step done
WHERE NOT EXISTS (SELECT 1 FROM tp_pending task WHERE task.id = done.task_id)
  AND NOT EXISTS (SELECT 1 FROM tp_finished task WHERE task.id = done.task_id)
  AND NOT EXISTS (SELECT 1 FROM tp_failed task WHERE task.id = done.task_id)

-- Schedules whose last task is in no pool.
SELECT COUNT(*), MIN(plans.name) FROM tp_schedule plans
WHERE plans.last_task IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM tp_pending task WHERE task.id = plans.last_task)
  AND NOT EXISTS (SELECT 1 FROM tp_finished task WHERE task.id = plans.last_task)
  AND NOT EXISTS (SELECT 1 FROM tp_failed task WHERE task.id = plans.last_task)

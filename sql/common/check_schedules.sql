-- Schedules that are not paused and have no next time, though no task of theirs is open.
SELECT COUNT(*), MIN(plans.name) FROM tp_schedule plans
WHERE plans.paused = 0 AND COALESCE(plans.fire_at, plans.next_at, 0) = 0
  AND NOT EXISTS (SELECT 1 FROM tp_pending task WHERE task.id = plans.last_task)

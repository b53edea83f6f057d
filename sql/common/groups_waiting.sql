-- How many tasks wait for the ends of groups.
SELECT COUNT(*) FROM tp_group grp JOIN tp_group_task waits ON waits.group_name = grp.name AND waits.waits = 1
  JOIN tp_pending task ON task.id = waits.task_id
WHERE grp.state < 'over'

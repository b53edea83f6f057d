-- How many tasks wait for the ends of groups.
SELECT COUNT(*) FROM tp_group door JOIN tp_group_task waits ON waits.group_name = door.name AND waits.waits = 1
  JOIN tp_pending task ON task.id = waits.task_id
WHERE door.state < 'over'

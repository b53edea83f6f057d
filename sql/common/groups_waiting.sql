-- How many groups have not ended, and how many tasks wait for that.
SELECT COUNT(*) AS not_over,
       (SELECT COUNT(*) FROM tp_group grp JOIN tp_group_task waits ON waits.group_name = grp.name AND waits.waits = 1
          JOIN tp_pending task ON task.id = waits.task_id
        WHERE grp.state < 'over') AS tasks
FROM tp_group WHERE state < 'over'

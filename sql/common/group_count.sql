-- What became of the tasks of a group, and how many wait for its end.
SELECT 'pending' AS pool, task.state AS state, COUNT(*) AS tasks FROM tp_group_task member JOIN tp_pending task ON task.id = member.task_id
WHERE member.group_name = :name AND member.waits = 0 GROUP BY task.state
UNION ALL
SELECT 'finished' AS pool, task.state AS state, COUNT(*) AS tasks FROM tp_group_task member JOIN tp_finished task ON task.id = member.task_id
WHERE member.group_name = :name AND member.waits = 0 GROUP BY task.state
UNION ALL
SELECT 'failed' AS pool, task.state AS state, COUNT(*) AS tasks FROM tp_group_task member JOIN tp_failed task ON task.id = member.task_id
WHERE member.group_name = :name AND member.waits = 0 GROUP BY task.state
UNION ALL
SELECT 'all' AS pool, 'all' AS state, COUNT(*) AS tasks FROM tp_group_task member WHERE member.group_name = :name AND member.waits = 0
UNION ALL
SELECT 'all' AS pool, 'waits' AS state, COUNT(*) AS tasks FROM tp_group_task member WHERE member.group_name = :name AND member.waits = 1

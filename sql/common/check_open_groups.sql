-- Groups that have been open for long, without an open task and without one that came in lately: behind :after_id.
SELECT COUNT(*), MIN(grp.name) FROM tp_group grp
WHERE grp.state = 'open' AND grp.created_at < :before
  AND NOT EXISTS (SELECT 1 FROM tp_group_task late
                  WHERE late.group_name = grp.name AND late.waits = 0 AND late.task_id > :after_id)
  AND NOT EXISTS (SELECT 1 FROM tp_group_task member JOIN tp_pending task ON task.id = member.task_id
                  WHERE member.group_name = grp.name AND member.waits = 0)
  AND NOT EXISTS (SELECT 1 FROM tp_group within WHERE within.parent = grp.name AND within.state <> 'over')

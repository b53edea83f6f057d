-- Groups that may have ended: of each the tasks are looked at from the first that was open last time.
SELECT door.name AS name FROM tp_group door WHERE door.state = 'opening'
UNION ALL
SELECT door.name AS name FROM tp_group door
WHERE door.state = 'closed'
  AND NOT EXISTS (SELECT 1 FROM tp_group child WHERE child.parent = door.name AND child.state IN ('open', 'closed'))
  AND NOT EXISTS (SELECT 1 FROM tp_group_task member WHERE member.group_name = door.name AND member.waits = 0 AND member.task_id >= door.seen_id
  AND (EXISTS (SELECT 1 FROM tp_pending task WHERE task.id = member.task_id)
       OR (door.rule = 'done' AND EXISTS (SELECT 1 FROM tp_failed bad WHERE bad.id = member.task_id))))

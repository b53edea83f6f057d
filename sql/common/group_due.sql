-- Groups that may have ended: of each the tasks are looked at from the first that was open last time, up to the first that is. In a CASE
-- an EXISTS is asked for each group by itself; otherwise a planner may read all tasks of all groups for it.
SELECT door.name AS name FROM tp_group door WHERE door.state = 'opening'
UNION ALL
SELECT door.name AS name FROM tp_group door
WHERE door.state = 'closed' AND 1 = CASE
  WHEN (SELECT COUNT(*) FROM tp_group child WHERE child.parent = door.name AND child.state < 'opening') > 0 THEN 0
  WHEN EXISTS (
    SELECT 1 FROM tp_group_task member {by_primary_key}
    WHERE member.group_name = door.name AND member.waits = 0 AND member.task_id >= door.seen_id
      AND ((SELECT COUNT(*) FROM tp_pending task WHERE task.id = member.task_id) > 0
           OR (door.rule = 'done' AND (SELECT COUNT(*) FROM tp_failed bad WHERE bad.id = member.task_id) > 0))) THEN 0
  ELSE 1 END

-- Groups that may have ended: of each the tasks are looked at from the first that was open last time, up to the first that is. In a CASE
-- an EXISTS is asked for each group by itself; otherwise a planner may read all tasks of all groups for it.
SELECT grp.name AS name FROM tp_group grp WHERE grp.state = 'opening'
UNION ALL
SELECT grp.name AS name FROM tp_group grp
WHERE grp.state = 'closed' AND 1 = CASE
  WHEN (SELECT COUNT(*) FROM tp_group child WHERE child.parent = grp.name AND child.state < 'opening') > 0 THEN 0
  WHEN EXISTS (
    SELECT 1 FROM tp_group_task member {by_primary_key}
    WHERE member.group_name = grp.name AND member.waits = 0 AND member.task_id >= grp.seen_id
      AND ((SELECT COUNT(*) FROM tp_pending task WHERE task.id = member.task_id) > 0
           OR (grp.rule = 'done' AND (SELECT COUNT(*) FROM tp_failed bad WHERE bad.id = member.task_id) > 0))) THEN 0
  ELSE 1 END

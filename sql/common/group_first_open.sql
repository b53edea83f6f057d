-- The first task of a group, from :after_id on, that holds up its end.
{first_n}
SELECT member.task_id FROM tp_group door, tp_group_task member
WHERE door.name = :name AND member.group_name = :name AND member.waits = 0 AND member.task_id >= :after_id
  AND (EXISTS (SELECT 1 FROM tp_pending task WHERE task.id = member.task_id)
       OR (door.rule = 'done' AND EXISTS (SELECT 1 FROM tp_failed bad WHERE bad.id = member.task_id)))
ORDER BY member.task_id
{first_n_end}

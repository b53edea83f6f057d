-- Tasks of a group that wait, or failed for good, behind :after_id.
{first_n}
SELECT member.task_id FROM tp_group_task member
WHERE member.group_name = :name AND member.waits = 0 AND member.task_id > :after_id
  AND (EXISTS (SELECT 1 FROM tp_pending task WHERE task.id = member.task_id AND task.state <> 'handling')
       OR EXISTS (SELECT 1 FROM tp_failed bad WHERE bad.id = member.task_id))
ORDER BY member.task_id
{first_n_end}

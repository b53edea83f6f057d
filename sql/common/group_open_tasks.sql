-- Tasks of a group that wait, or failed for good, behind :after_id. See group_first_open.
{first_n}
SELECT member.task_id FROM tp_group_task member {by_primary_key}
WHERE member.group_name = :name AND member.waits = 0 AND member.task_id > :after_id
  AND ((SELECT COUNT(*) FROM tp_pending task WHERE task.id = member.task_id AND task.state <> 'handling') > 0
       OR (SELECT COUNT(*) FROM tp_failed bad WHERE bad.id = member.task_id) > 0)
ORDER BY member.task_id
{first_n_end}

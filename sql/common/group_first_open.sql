-- The first task of a group, from :after_id on, that holds up its end. By numbers, because for EXISTS a planner may read the whole pool.
{first_n}
SELECT member.task_id FROM tp_group_task member {by_primary_key}
WHERE member.group_name = :name AND member.waits = 0 AND member.task_id >= :after_id
  AND ((SELECT COUNT(*) FROM tp_pending task WHERE task.id = member.task_id) > 0
       OR ((SELECT grp.rule FROM tp_group grp WHERE grp.name = :name) = 'done'
           AND (SELECT COUNT(*) FROM tp_failed bad WHERE bad.id = member.task_id) > 0))
ORDER BY member.task_id
{first_n_end}

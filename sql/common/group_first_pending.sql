-- The first task of a group that waits or is in hand. Where a statement that reads two tables may see them at two moments, a task that
-- goes from one to the other may be in neither: this one reads one.
{first_n}
SELECT member.task_id FROM tp_group_task member {by_primary_key}
WHERE member.group_name = :name AND member.waits = 0 AND member.task_id >= :after_id
  AND (SELECT COUNT(*) FROM tp_pending task WHERE task.id = member.task_id) > 0
ORDER BY member.task_id
{first_n_end}

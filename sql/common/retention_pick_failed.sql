-- Tasks of the failed pool that are past their time, the oldest first, but for those that a person is to decide about: what they hold up
-- would go on as if they were done. They are tasks of a group that is not over, or keep their place at a gate that blocks.
-- The group is asked for in a query of its own: joined, a planner may read all groups for each task.
{first_n}
SELECT bad.id FROM tp_failed bad
WHERE bad.settled_at <= :before
  AND (SELECT COUNT(*) FROM tp_gate_task place WHERE place.task_id = bad.id) = 0
  AND (SELECT COUNT(*) FROM tp_group_task member WHERE member.task_id = bad.id AND member.waits = 0
         AND (SELECT grp.state FROM tp_group grp WHERE grp.name = member.group_name) < 'over') = 0
ORDER BY bad.settled_at
{first_n_end}

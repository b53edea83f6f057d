-- Tasks of the failed pool that are past their time, the oldest first, but for those that a person is to decide about: what they hold up
-- would go on as if they were done. They are tasks of a group that is not over (one question for each such group: a group's tasks are found
-- by its name), or keep their place at a gate that blocks.
{first_n}
SELECT bad.id FROM tp_failed bad
WHERE bad.settled_at <= :before
  AND (SELECT COUNT(*) FROM tp_gate_task place WHERE place.task_id = bad.id) = 0
  AND (SELECT COUNT(*) FROM tp_group grp JOIN tp_group_task member {by_primary_key} ON member.group_name = grp.name
       WHERE grp.state < 'over' AND member.waits = 0 AND member.task_id = bad.id) = 0
ORDER BY bad.settled_at
{first_n_end}
